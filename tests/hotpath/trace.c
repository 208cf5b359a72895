/* trace PROGRAM ARGS...: runs a program, and counts system calls or instructions between its marks (region.h).
 *
 * ptrace does both, without a tool or a right that a plain system lacks. Between the marks of REGION_CALLS the program runs
 * at full speed and stops at system calls only; between those of REGION_STEPS it stops after each instruction. Elsewhere it
 * does not notice. Other threads of the program are not looked at. Exits as the program does, or with 77 where ptrace is
 * not allowed. */
#define _GNU_SOURCE
#include "region.h"
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what) {
    fprintf(stderr, "trace: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* What a thread does that has nothing else to do. */
static int is_waiting(uint64_t call) {
    switch (call) {
    case SYS_futex:
    case SYS_sched_yield:
    case SYS_membarrier:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_clock_gettime: /* where the clock is not in the vDSO */
    case SYS_restart_syscall:
        return 1;
    default:
        return 0;
    }
}

static void give(pid_t pid, uint64_t at, const struct region *found) {
    const uint64_t *words = (const uint64_t *)found;
    for (size_t i = 0; i < sizeof *found / 8; i++)
        if (ptrace(PTRACE_POKEDATA, pid, at + 8 * i, words[i]) < 0) die("cannot write the counts");
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: trace PROGRAM ARGS...\n");
        return 1;
    }
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0) {
            fprintf(stderr, "ptrace is not allowed here: %s\n", strerror(errno));
            _exit(NO_PTRACE);
        }
        setenv("HOTPATH_TRACED", "1", 1);
        raise(SIGSTOP);
        execvp(argv[1], argv + 1);
        die(argv[1]);
    }
    int status, inside = 0, resume = PTRACE_CONT, deliver = 0, started = 0;
    struct region found = {0};
    for (;;) {
        if (waitpid(pid, &status, 0) < 0) die("waitpid");
        if (WIFEXITED(status)) return WEXITSTATUS(status);
        if (WIFSIGNALED(status)) {
            fprintf(stderr, "trace: %s: %s\n", argv[1], strsignal(WTERMSIG(status)));
            return 1;
        }
        if (!WIFSTOPPED(status)) continue;
        int signal = WSTOPSIG(status);
        deliver = 0;
        if (!started) {
            started = 1;
            if (ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0) die("SETOPTIONS");
        } else if (signal == (SIGTRAP | 0x80)) {
            inside = !inside;
            if (inside) {
                struct user_regs_struct regs;
                if (ptrace(PTRACE_GETREGS, pid, 0, &regs) < 0) die("GETREGS");
                if (is_waiting(regs.orig_rax)) {
                    found.waits++;
                } else {
                    found.calls++;
                    found.call = regs.orig_rax;
                }
            }
        } else if (signal == SIGTRAP) {
            siginfo_t info;
            if (ptrace(PTRACE_GETSIGINFO, pid, 0, &info) < 0) die("GETSIGINFO");
            /* The step over a system call is told as TRAP_BRKPT, a breakpoint instruction as SI_KERNEL. */
            if ((info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT) && resume == PTRACE_SINGLESTEP) {
                found.instructions++;
            } else if (info.si_code == SI_KERNEL) {
                struct user_regs_struct regs;
                if (ptrace(PTRACE_GETREGS, pid, 0, &regs) < 0) die("GETREGS");
                if (regs.rax == REGION_CALLS || regs.rax == REGION_STEPS) {
                    resume = regs.rax == REGION_CALLS ? PTRACE_SYSCALL : PTRACE_SINGLESTEP;
                    found = (struct region){0};
                    inside = 0;
                } else if (regs.rax == REGION_END) {
                    resume = PTRACE_CONT;
                    give(pid, regs.rdi, &found);
                } else {
                    deliver = SIGTRAP;
                }
            } /* else: the stop after exec */
        } else {
            deliver = signal;
        }
        if (ptrace(resume, pid, 0, deliver) < 0 && errno != ESRCH) die("cannot resume the program");
    }
}

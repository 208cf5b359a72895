/* The first process of the guest that `cargo xtask suite kmod` starts: mounts what programs expect, has the system
 * refuse cross memory attach, loads /module.ko, runs the commands
 * of /commands one after the other, and switches the machine off. Linked statically.
 *
 * A line of /commands: SECONDS, a tab, the expected end (`0` or `!0`), a tab, a name, then a tab and an argument, again and again.
 * What a command prints goes to the console; how it ended is said where it is not what was expected. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void end(void)
{
    printf("kmod: end\n");
    fflush(stdout);
    sync();
    reboot(RB_POWER_OFF);
    for (;;)
        pause();
}

static void mounted(const char *what, const char *where)
{
    mkdir(where, 0755);
    if (mount(what, where, what, 0, "") != 0 && errno != EBUSY)
        printf("failed mount %s: %s\n", where, strerror(errno));
}

/* Messages then have no way into another process but the module: yama allows no process to reach into another. */
static void refuse_cross_memory_attach(void)
{
    int scope = open("/proc/sys/kernel/yama/ptrace_scope", O_WRONLY | O_CLOEXEC);
    if (scope < 0 || write(scope, "3", 1) != 1)
        printf("failed to refuse cross memory attach: %s\n", strerror(errno));
    if (scope >= 0)
        close(scope);
}

static void run(char *line)
{
    char *arguments[64], *field = strtok(line, "\t");
    int seconds = field ? atoi(field) : 0;
    char *expected = strtok(NULL, "\t"), *name = strtok(NULL, "\t");
    int count = 0;
    while (count < 63 && (field = strtok(NULL, "\t")))
        arguments[count++] = field;
    arguments[count] = NULL;
    if (!expected || !name || count == 0) {
        printf("failed a line of /commands: it is incomplete\n");
        return;
    }
    printf("kmod: %s\n", name);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        execv(arguments[0], arguments);
        printf("failed %s: cannot start %s: %s\n", name, arguments[0], strerror(errno));
        fflush(stdout);
        _exit(127);
    }
    int status = 0, late = 0;
    for (long tick = 0; waitpid(pid, &status, WNOHANG) == 0; tick++) {
        if (tick == seconds * 20L) {
            late = 1;
            kill(-pid, SIGKILL);
            kill(pid, SIGKILL);
        }
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    int ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (late)
        printf("failed %s: no end after %d s\n", name, seconds);
    else if (strcmp(expected, "0") == 0 && !ended_well)
        printf("failed %s: it ended with status %#x\n", name, status);
    else if (strcmp(expected, "!0") == 0 && (ended_well || !WIFEXITED(status)))
        printf("failed %s: it ended with status %#x, not with an error of its own\n", name, status);
    else
        printf("passed %s\n", name);
    fflush(stdout);
}

int main(void)
{
    mounted("devtmpfs", "/dev");
    mounted("proc", "/proc");
    mounted("sysfs", "/sys");
    mounted("tmpfs", "/tmp");
    setenv("PATH", "/bin", 1);
    setenv("HOME", "/tmp", 1);
    setenv("OXMPI_INFO", "shm", 1);
    refuse_cross_memory_attach();
    int module = open("/module.ko", O_RDONLY | O_CLOEXEC);
    if (module < 0 || syscall(SYS_finit_module, module, "", 0) != 0) {
        printf("failed to load the module: %s\n", strerror(errno));
        end();
    }
    FILE *commands = fopen("/commands", "re");
    char line[4096];
    if (!commands)
        printf("failed to read /commands: %s\n", strerror(errno));
    while (commands && fgets(line, sizeof line, commands)) {
        line[strcspn(line, "\n")] = 0;
        run(line);
    }
    end();
}

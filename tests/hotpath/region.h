/* A stretch of a program whose system calls or instructions trace.c counts: a breakpoint at either end, with what is wanted
 * in a register. x86-64 only. */
#ifndef REGION_H
#define REGION_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { REGION_CALLS = 0x6f786d01, REGION_STEPS = 0x6f786d02, REGION_END = 0x6f786d03 };

/* Exit statuses besides 0 and 1. */
enum { NO_PTRACE = 77, TOO_BUSY = 78 };

struct region {
    uint64_t instructions;
    /* System calls that belong to waiting, and all others; the number of one of the others. */
    uint64_t waits, calls, call;
};

static inline void region_begin(uint64_t what) { __asm__ volatile("int3" : : "a"(what) : "memory"); }

static inline void region_end(struct region *found) {
    __asm__ volatile("int3" : : "a"((uint64_t)REGION_END), "D"(found) : "memory");
}

/* Without trace.c the first breakpoint would be the end. */
static inline void region_ready(void) {
    if (getenv("HOTPATH_TRACED")) return;
    fprintf(stderr, "this program runs under tests/hotpath/trace.c\n");
    exit(1);
}
#endif

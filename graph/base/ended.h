/* ended.h - what a function holds until it returns is declared with its end: ENDED_BY(arena_free) arena mem = {0};
 * The end runs however the function returns, after what it returns is worked out, of the last declared first. It is
 * given the address of the local, which is always initialized, and accepts one that holds nothing. */
#pragma once
#define ENDED_BY(end) __attribute__((cleanup(end)))
void heap_free(void *pointer); /* frees what the pointer at this address points to */

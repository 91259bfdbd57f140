/* list.h - arrays that grow. Without memory the program ends: here it only draws and prints. What is new is zero;
 * a list is the caller's, to be freed. */
#ifndef TS_LIST_H
#define TS_LIST_H
#include <stddef.h>

void *list_make(size_t n, size_t size); /* n elements and one, all zero; for free */
/* Room for element n; *cap elements are there before and after. What is new is zero. */
void *list_grown(void *list, int n, int *cap, size_t size);
#endif

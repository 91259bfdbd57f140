/* elf.h - whether bytes are a whole ELF file for this machine, before they are linked or mapped.
 * Reads within the bytes given, whatever they say: they may come from a damaged cache. Nothing is kept; what it says is
 * constant text. */
#pragma once
#include <stddef.h>

typedef enum elf_kind { ELF_OBJECT, ELF_SHARED } elf_kind;

/* What is wrong with it, in words that complete "the output ..."; NULL when nothing is. */
const char *elf_fault(const void *p, size_t n, elf_kind kind);

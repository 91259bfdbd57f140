/* elf.c - the header, and that every table and segment that it announces lies inside the file: a truncated library
 * would otherwise be mapped and fault at its first use. */
#include "backends/cache/elf.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef ElfW(Ehdr) header;
typedef ElfW(Phdr) segment;

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#elif defined(__riscv)
enum { MACHINE = EM_RISCV };
#else
enum { MACHINE = EM_NONE }; /* not checked */
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { ORDER = ELFDATA2LSB };
#else
enum { ORDER = ELFDATA2MSB };
#endif
enum { CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32 };

/* count things of `each` bytes (both 16 bits wide in the header) from offset. */
static bool inside(size_t n, uint64_t offset, uint64_t count, uint64_t each)
{
    return offset <= n && count * each <= n - offset;
}

static const char *segments_fault(const unsigned char *at, size_t n, const header *h)
{
    if (h->e_phentsize != sizeof(segment) || !inside(n, h->e_phoff, h->e_phnum, h->e_phentsize))
        return "is truncated";
    for (int i = 0; i < h->e_phnum; i++) {
        segment s;
        memcpy(&s, at + h->e_phoff + (size_t)i * sizeof s, sizeof s);
        if (s.p_type == PT_LOAD && !inside(n, s.p_offset, 1, s.p_filesz))
            return "is truncated";
    }
    return NULL;
}

const char *elf_fault(const void *p, size_t n, elf_kind kind)
{
    header h;
    if (n == 0)
        return "is empty";
    if (n < sizeof h || memcmp(p, ELFMAG, SELFMAG) != 0)
        return "is not an ELF file";
    memcpy(&h, p, sizeof h);
    if (h.e_ident[EI_CLASS] != CLASS || h.e_ident[EI_DATA] != ORDER || (MACHINE != EM_NONE && h.e_machine != MACHINE))
        return "is for another machine";
    if (h.e_type != (kind == ELF_OBJECT ? ET_REL : ET_DYN))
        return kind == ELF_OBJECT ? "is not an object file" : "is not a shared library";
    if (!inside(n, h.e_shoff, h.e_shnum, h.e_shentsize))
        return "is truncated";
    return kind == ELF_OBJECT ? NULL : segments_fault(p, n, &h);
}

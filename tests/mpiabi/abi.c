/* abi.c - libmpi_abi.so.0 over MPICH, which has none before 4.3: the calls that train/collective/mpi.c makes, with the
 * handles and numbers of MPI 5.0's interface for binaries on their side. A number that the standard does not have ends
 * the process. Its own functions are called by their other names (PMPI), since MPI's are exported here. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORLD = 0x101, REQUEST_NULL = 0x180, BYTE = 0x247, MULTIPLE = 4096 };
typedef struct abi_status {
    int source, tag, error, rest[5];
} abi_status;

static void expect(const char *what, uintptr_t is, uintptr_t wanted)
{
    if (is == wanted)
        return;
    fprintf(stderr, "mpiabi: %s is 0x%llx, 0x%llx expected\n", what, (unsigned long long)is,
            (unsigned long long)wanted);
    abort();
}

static void *outside(MPI_Request r)
{
    return (void *)(uintptr_t)(r == MPI_REQUEST_NULL ? REQUEST_NULL : (unsigned)r);
}

static MPI_Request inside(const void *r)
{
    return (uintptr_t)r == REQUEST_NULL ? MPI_REQUEST_NULL : (MPI_Request)(uintptr_t)r;
}

static void tell(abi_status *to, const MPI_Status *from)
{
    *to = (abi_status){.source = from->MPI_SOURCE, .tag = from->MPI_TAG, .error = from->MPI_ERROR};
}

int abi_begin(int *argc, char ***argv, int required, int *provided) __asm__("MPI_Init_thread");
int abi_begin(int *argc, char ***argv, int required, int *provided)
{
    int level = 0;
    expect("a level of threads", (uintptr_t)required, MULTIPLE);
    const int s = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    *provided = level == MPI_THREAD_MULTIPLE ? MULTIPLE : 0;
    return s;
}

int abi_finalize(void) __asm__("MPI_Finalize");
int abi_finalize(void)
{
    fprintf(stderr, "mpiabi: served\n"); /* a test sees by whom */
    return PMPI_Finalize();
}

int abi_abort(uintptr_t comm, int code) __asm__("MPI_Abort");
int abi_abort(uintptr_t comm, int code)
{
    expect("a communicator", comm, WORLD);
    return PMPI_Abort(MPI_COMM_WORLD, code);
}

int abi_rank(uintptr_t comm, int *rank) __asm__("MPI_Comm_rank");
int abi_rank(uintptr_t comm, int *rank)
{
    expect("a communicator", comm, WORLD);
    return PMPI_Comm_rank(MPI_COMM_WORLD, rank);
}

int abi_size(uintptr_t comm, int *size) __asm__("MPI_Comm_size");
int abi_size(uintptr_t comm, int *size)
{
    expect("a communicator", comm, WORLD);
    return PMPI_Comm_size(MPI_COMM_WORLD, size);
}

int abi_isend(const void *from, int n, uintptr_t type, int to, int tag, uintptr_t comm, void **r) __asm__("MPI_Isend");
int abi_isend(const void *from, int n, uintptr_t type, int to, int tag, uintptr_t comm, void **r)
{
    MPI_Request own;
    expect("a communicator", comm, WORLD), expect("a type", type, BYTE);
    const int s = PMPI_Isend(from, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &own);
    return *r = outside(own), s;
}

int abi_irecv(void *to, int n, uintptr_t type, int from, int tag, uintptr_t comm, void **r) __asm__("MPI_Irecv");
int abi_irecv(void *to, int n, uintptr_t type, int from, int tag, uintptr_t comm, void **r)
{
    MPI_Request own;
    expect("a communicator", comm, WORLD), expect("a type", type, BYTE);
    const int s = PMPI_Irecv(to, n, MPI_BYTE, from, tag, MPI_COMM_WORLD, &own);
    return *r = outside(own), s;
}

int abi_test(void **r, int *done, abi_status *status) __asm__("MPI_Test");
int abi_test(void **r, int *done, abi_status *status)
{
    MPI_Request own = inside(*r);
    MPI_Status of = {0};
    const int s = PMPI_Test(&own, done, &of);
    tell(status, &of);
    return *r = outside(own), s;
}

int abi_testall(int n, void **r, int *done, abi_status *status) __asm__("MPI_Testall");
int abi_testall(int n, void **r, int *done, abi_status *status)
{
    enum { MOST = 8 };
    MPI_Request own[MOST];
    MPI_Status of[MOST] = {0};
    expect("more requests than a call has here", n > MOST, 0);
    for (int i = 0; i < n; i++)
        own[i] = inside(r[i]);
    const int s = PMPI_Testall(n, own, done, of);
    for (int i = 0; i < n; i++)
        tell(&status[i], &of[i]), r[i] = outside(own[i]);
    return s;
}

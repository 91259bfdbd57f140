/* mpi.h - the part of MPI's standard interface for binaries that mpi.c uses: types, numbers, functions as MPI 5.0 has
 * them ("Application Binary Interface"). Any MPI that has libmpi_abi.so.0 serves what is compiled by it, so
 * no MPI is needed to build. Names are the standard's. */
#pragma once

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_Status {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
} MPI_Status;
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_BYTE ((MPI_Datatype)0x247)
enum { MPI_SUCCESS = 0, MPI_THREAD_MULTIPLE = 4096 };

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm comm, int code);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Irecv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Test(MPI_Request *request, int *done, MPI_Status *status);
int MPI_Testall(int count, MPI_Request request[], int *done, MPI_Status status[]);

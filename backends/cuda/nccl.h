/* nccl.h - the part of NCCL that is used here, as its documentation has it: what cards of one process, or of several,
 * send to each other. Its library is opened when it is asked for and stays; no header of it is needed to build. */
#pragma once
#include "backends/cuda/runtime/cuda_abi.h"
#include "tessera_shared.h"
#include "graph/base/base.h"

typedef struct ncclComm *nccl_comm;
enum { NCCL_OK = 0, NCCL_IN_PROGRESS = 7, NCCL_F32 = 7 };
enum { NCCL_LEAST = 2700 }; /* 2.7 sends and receives */

typedef struct nccl_api {
    int (*version)(int *version);
    int (*id)(ts_shared_id *id);
    int (*join)(nccl_comm *out, int count, ts_shared_id id, int rank);
    int (*drop)(nccl_comm c);
    int (*abort)(nccl_comm c);
    int (*begin)(void);
    int (*end)(void);
    int (*send)(const void *from, size_t n, int type, int to, nccl_comm c, cu_stream s);
    int (*receive)(void *to, size_t n, int type, int from, nccl_comm c, cu_stream s);
    int (*later)(nccl_comm c, int *status); /* what went wrong behind a call */
    const char *(*text)(int status);
} nccl_api;
bool nccl_open(nccl_api *a, err *e); /* by the settings of the environment */
bool nccl_did(const nccl_api *a, int status, const char *doing, err *e);

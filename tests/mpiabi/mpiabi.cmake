# An MPI of the standard interface for binaries, for tests: that of MPICH, with numbers translated.
pkg_check_modules(MPI_mpich QUIET IMPORTED_TARGET mpich)
if(MPI_mpich_FOUND AND NOT TESSERA_FUZZ)
    add_library(mpiabi SHARED tests/mpiabi/abi.c)
    target_compile_options(mpiabi PRIVATE ${warnings} -Wno-missing-prototypes)
    target_link_libraries(mpiabi PRIVATE PkgConfig::MPI_mpich)
    set_target_properties(mpiabi PROPERTIES OUTPUT_NAME mpi_abi SOVERSION 0 C_VISIBILITY_PRESET default
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/mpiabi)
endif()

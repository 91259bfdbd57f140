# A stand-in for the driver library of CUDA, which runs PTX on the CPU: for tests that name it, never installed.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT TESSERA_FUZZ)
    file(GLOB gpusim CONFIGURE_DEPENDS tests/gpusim/*.c)
    set(gpusim_options -O3 -march=x86-64-v3 -frounding-math -fno-strict-aliasing -Wall -Wextra
        -Wno-unknown-pragmas -fno-sanitize=all)
    if(TESSERA_WERROR)
        list(APPEND gpusim_options -Werror)
    endif()
    set(alu ${CMAKE_SOURCE_DIR}/tests/gpusim/alu.awk ${CMAKE_SOURCE_DIR}/tests/gpusim/alu.def
        ${CMAKE_SOURCE_DIR}/tests/gpusim/cmp.def)
    add_custom_command(OUTPUT ${gen}/gpusim_alu.c DEPENDS ${alu} VERBATIM
        COMMAND sh -c "awk -f \"$1\" \"$2\" \"$3\" >\"$4\"" sh ${alu} ${gen}/gpusim_alu.c)
    add_library(gpusim SHARED ${gpusim} ${gen}/gpusim_alu.c)
    target_compile_options(gpusim PRIVATE ${gpusim_options})
    target_link_options(gpusim PRIVATE -fno-sanitize=all)
    target_link_libraries(gpusim PRIVATE Threads::Threads m ${CMAKE_DL_LIBS})
    set_target_properties(gpusim PROPERTIES C_EXTENSIONS ON OUTPUT_NAME cuda SOVERSION 1
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/gpusim)
    add_library(simnccl SHARED tests/gpusim/nccl/nccl.c) # NCCL over it
    target_compile_options(simnccl PRIVATE ${gpusim_options})
    target_link_options(simnccl PRIVATE -fno-sanitize=all)
    target_link_libraries(simnccl PRIVATE gpusim Threads::Threads)
    set_target_properties(simnccl PROPERTIES C_EXTENSIONS ON OUTPUT_NAME nccl SOVERSION 2
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/gpusim)
    add_library(nvrtc-fails SHARED tests/gpusim/check/nvrtc_fails.c) # what the tests of faults compile by
    target_compile_options(nvrtc-fails PRIVATE ${warnings})
    set_target_properties(nvrtc-fails PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/gpusim
        C_VISIBILITY_PRESET default)
    find_path(CUDA_HEADERS cuda.h PATHS $ENV{CUDA_HOME}/include /usr/local/cuda/include)
    if(CUDA_HEADERS) # of the toolkit, which its own tests are compiled against
        # NVRTC can optimise less, in two thirds of the time, from 12.9 on. That breaks wgmma.
        file(STRINGS ${CUDA_HEADERS}/cuda.h cuda_version REGEX "^#define CUDA_VERSION [0-9]+")
        string(REGEX MATCH "[0-9]+" cuda_version "${cuda_version}")
        get_property(hasty GLOBAL PROPERTY HASTY_TESTS)
        if(cuda_version GREATER_EQUAL 12090)
            set_property(TEST ${hasty} PROPERTY ENVIRONMENT_MODIFICATION
                "TESSERA_CUDA=string_append:,--Ofast-compile=mid")
        endif()
        add_executable(gpusim-run tests/gpusim/check/run.c tests/gpusim/check/kernels.c tests/gpusim/check/numbers.c
            tests/gpusim/check/host.c)
        target_include_directories(gpusim-run SYSTEM PRIVATE ${CUDA_HEADERS})
        target_compile_options(gpusim-run PRIVATE ${gpusim_options} -O2)
        target_link_options(gpusim-run PRIVATE -fno-sanitize=all)
        target_link_libraries(gpusim-run PRIVATE gpusim m ${CMAKE_DL_LIBS})
        add_executable(gpusim-hopper tests/gpusim/check/hopper.c)
        target_include_directories(gpusim-hopper SYSTEM PRIVATE ${CUDA_HEADERS})
        target_compile_options(gpusim-hopper PRIVATE ${gpusim_options} -O2)
        target_link_options(gpusim-hopper PRIVATE -fno-sanitize=all)
        target_link_libraries(gpusim-hopper PRIVATE gpusim m ${CMAKE_DL_LIBS})
        add_executable(gpusim-compile tests/gpusim/check/compile.c)
        target_compile_options(gpusim-compile PRIVATE ${warnings})
        target_link_libraries(gpusim-compile PRIVATE ${CMAKE_DL_LIBS})
        set_target_properties(gpusim-run gpusim-hopper gpusim-compile PROPERTIES C_EXTENSIONS ON
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/gpusim)
    endif()
endif()

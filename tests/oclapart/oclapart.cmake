# What tests of devices with memory of their own name as the loader of OpenCL: the one that is here, with another answer.
find_library(OPENCL_LOADER NAMES libOpenCL.so.1)
if(OPENCL_LOADER AND NOT TESSERA_FUZZ)
    add_library(oclapart SHARED tests/oclapart/apart.c backends/opencl/runtime/opencl_abi.c)
    target_compile_options(oclapart PRIVATE ${warnings} -Wno-missing-prototypes)
    target_compile_definitions(oclapart PRIVATE _GNU_SOURCE)
    target_include_directories(oclapart PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(oclapart PRIVATE -Wl,--no-as-needed ${OPENCL_LOADER} ${CMAKE_DL_LIBS})
    set_target_properties(oclapart PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/oclapart
        C_VISIBILITY_PRESET default)
endif()

# One test: path = name, folder = label (tests/*.sh: architecture). A line "ctest: ..." in the file may say
#   long (only with --all), large (not under sanitizers), serial (alone on the machine), timeout=SECONDS,
#   Og, O3 (kernels are compiled so, not with -O1, which takes a third of the time of -O3; Og takes a fifth, and what it
#   makes takes 20 times as long to run, and has OpenCL not optimise; O3, as people have it,
#   where the test is of a compiler or of fast code),
#   unkept (no program of OpenCL is kept),
#   drivers (drivers leak: PoCL and LLVM, which all under an opencl/ open; the stand-in after a fault),
#   counts (of a C test: linked with sources that count what they do), fast (takes under 0.3 s: ./dev smoke),
#   wrap=NAME,... (of a C test: calls of NAME reach its own __wrap_NAME, as the linker's --wrap says)

# test_program(TARGET FILE SAYS) builds the C test in FILE, with what its line says.
function(test_program target file says)
    add_executable(${target} ${file})
    if(says MATCHES "counts" AND TESSERA_COUNT)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:counted>)
        target_compile_definitions(${target} PRIVATE WORK_IS_COUNTED)
    endif()
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    if(TESSERA_SANITIZE AND says MATCHES "long|large")
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON) # ./dev asan does not run it
    endif()
    target_compile_options(${target} PRIVATE ${warnings} ${hurry})
    target_link_libraries(${target} PRIVATE ${parts} -Wl,--as-needed PkgConfig::ARCHIVE) # by the test that writes archives
    if(HAS_GOLD)
        target_link_options(${target} PRIVATE -fuse-ld=gold)
    endif()
    if(says MATCHES "wrap=([a-z_,]+)")
        string(REPLACE "," ",--wrap=" wrapped ${CMAKE_MATCH_1})
        target_link_options(${target} PRIVATE -Wl,--wrap=${wrapped})
    endif()
    file(STRINGS ${file} main REGEX "^int main" LIMIT_COUNT 1)
    if(TESSERA_FUZZ AND NOT main)
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    endif()
endfunction()

# test_run(NAME FILE SAYS) gives the test its labels, limits and environment.
function(test_run name file says)
    string(REGEX MATCH "timeout=([0-9]+)" seconds "${says}")
    if(seconds)
        set(seconds ${CMAKE_MATCH_1})
    else()
        set(seconds 900) # for hangs only: machines are shared
    endif()
    set(labels architecture)
    if(name MATCHES "^([^/]+)/")
        set(labels ${CMAKE_MATCH_1})
    endif()
    if(says MATCHES "long")
        list(APPEND labels long)
    elseif(NOT labels STREQUAL "architecture" AND NOT says MATCHES "large|wrap=") # shared libraries keep their own calls
        list(APPEND labels small)
    endif()
    if(says MATCHES "fast")
        list(APPEND labels fast)
    endif()
    # Sanitizers guess where variables of threads lie in libraries that are opened, by what is in front of them: that was
    # wrong with the stand-in, and the search for leaks crashed. Without it they are no roots of what is held.
    set(leaks 1)
    if(name MATCHES "/opencl/" OR says MATCHES "drivers")
        set(leaks 0)
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${seconds} SKIP_RETURN_CODE 77
        ENVIRONMENT "TESSERA=${CMAKE_BINARY_DIR}/tessera;SOURCE=${CMAKE_SOURCE_DIR};BUILD=${CMAKE_BINARY_DIR};\
XDG_CACHE_HOME=${TESSERA_TEST_CACHE};COMPILER_PATH=${CMAKE_BINARY_DIR}/tests;\
ASAN_OPTIONS=allocator_may_return_null=1:intercept_tls_get_addr=0:detect_leaks=${leaks};UBSAN_OPTIONS=print_stacktrace=1")
    # PoCL compiles a kernel for groups of any size where its program is kept, and again for the size that is launched. The
    # former will do there; elsewhere the latter is all that it makes, and is faster.
    if(NOT says MATCHES "unkept")
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT POCL_WORK_GROUP_SPECIALIZATION=0)
    endif()
    set(level O1)
    if(says MATCHES " (O[3g])")
        set(level ${CMAKE_MATCH_1})
    endif()
    if(NOT level STREQUAL "O3")
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "TESSERA_CC=${CMAKE_BINARY_DIR}/tests/cc-${level}")
        set_property(GLOBAL APPEND PROPERTY HASTY_TESTS ${name}) # for compilers of stand-ins
    endif()
    if(level STREQUAL "Og")
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "TESSERA_OPENCL=-cl-opt-disable")
    endif()
    if(says MATCHES "large")
        set_tests_properties(${name} PROPERTIES COST 60) # first, where none has been timed: no long one is left for the end
    endif()
    if(says MATCHES "serial")
        set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
    endif()
endfunction()

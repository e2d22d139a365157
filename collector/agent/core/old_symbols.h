// Included before everything in the agent. Functions that later C libraries also have under a newer version are requested by their oldest one, so that the
// agent loads on machines with glibc 2.27. They were in libdl and libpthread then, so the agent names these libraries.
#if defined(__x86_64__)
__asm__(".symver dladdr,dladdr@GLIBC_2.2.5");
__asm__(".symver dlclose,dlclose@GLIBC_2.2.5");
__asm__(".symver dlerror,dlerror@GLIBC_2.2.5");
#if !defined(LANESCOPE_DEFINES_DLOPEN)
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5");
#endif
__asm__(".symver dlinfo,dlinfo@GLIBC_2.3.3");
#if !defined(LANESCOPE_DEFINES_DLSYM)
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
#endif
__asm__(".symver dlvsym,dlvsym@GLIBC_2.2.5");
__asm__(".symver pthread_attr_setstacksize,pthread_attr_setstacksize@GLIBC_2.2.5");
__asm__(".symver pthread_create,pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_getcpuclockid,pthread_getcpuclockid@GLIBC_2.2.5");
__asm__(".symver pthread_key_create,pthread_key_create@GLIBC_2.2.5");
__asm__(".symver pthread_setname_np,pthread_setname_np@GLIBC_2.12");
__asm__(".symver pthread_setspecific,pthread_setspecific@GLIBC_2.2.5");
__asm__(".symver pthread_sigmask,pthread_sigmask@GLIBC_2.2.5");
#elif defined(__aarch64__)  // whose C library begins with 2.17
__asm__(".symver dladdr,dladdr@GLIBC_2.17");
__asm__(".symver dlclose,dlclose@GLIBC_2.17");
__asm__(".symver dlerror,dlerror@GLIBC_2.17");
#if !defined(LANESCOPE_DEFINES_DLOPEN)
__asm__(".symver dlopen,dlopen@GLIBC_2.17");
#endif
__asm__(".symver dlinfo,dlinfo@GLIBC_2.17");
#if !defined(LANESCOPE_DEFINES_DLSYM)
__asm__(".symver dlsym,dlsym@GLIBC_2.17");
#endif
__asm__(".symver dlvsym,dlvsym@GLIBC_2.17");
__asm__(".symver pthread_attr_setstacksize,pthread_attr_setstacksize@GLIBC_2.17");
__asm__(".symver pthread_create,pthread_create@GLIBC_2.17");
__asm__(".symver pthread_getcpuclockid,pthread_getcpuclockid@GLIBC_2.17");
__asm__(".symver pthread_key_create,pthread_key_create@GLIBC_2.17");
__asm__(".symver pthread_setname_np,pthread_setname_np@GLIBC_2.17");
__asm__(".symver pthread_setspecific,pthread_setspecific@GLIBC_2.17");
__asm__(".symver pthread_sigmask,pthread_sigmask@GLIBC_2.17");
#endif

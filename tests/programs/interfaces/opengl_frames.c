// Draws three frames into a window, in debug groups. The argument says how it gets the functions: by their names (linked), by asking the loader for a
// function of libGL (dlsym), or by asking OpenGL (address), as GLFW and SDL do.
//
// cc opengl_frames.c -lX11 -lGL -ldl
#define GL_GLEXT_PROTOTYPES
#define GLX_GLXEXT_PROTOTYPES
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <GL/gl.h>
#include <GL/glext.h>
#include <GL/glx.h>

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "linked";
  Display* display = XOpenDisplay(NULL);
  if (display == NULL) return 77;
  int wanted[] = {GLX_RGBA, GLX_DOUBLEBUFFER, None};
  XVisualInfo* visual = glXChooseVisual(display, DefaultScreen(display), wanted);
  if (visual == NULL) return 77;
  XSetWindowAttributes attributes = {0};
  attributes.colormap = XCreateColormap(display, RootWindow(display, visual->screen), visual->visual, AllocNone);
  Window window = XCreateWindow(display, RootWindow(display, visual->screen), 0, 0, 64, 64, 0, visual->depth, InputOutput, visual->visual,
                                CWColormap | CWBorderPixel, &attributes);
  XMapWindow(display, window);
  GLXContext context = glXCreateContext(display, visual, NULL, True);
  if (context == NULL || !glXMakeCurrent(display, window, context)) return 77;

  void (*swap)(Display*, GLXDrawable) = glXSwapBuffers;
  PFNGLPUSHDEBUGGROUPPROC push = glPushDebugGroup;
  PFNGLPOPDEBUGGROUPPROC pop = glPopDebugGroup;
  PFNGLDEBUGMESSAGEINSERTPROC insert = glDebugMessageInsert;
  if (strcmp(way, "linked") != 0) {
    void* library = dlopen("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
    __GLXextFuncPtr (*address)(const GLubyte*) = (__GLXextFuncPtr(*)(const GLubyte*))dlsym(library, "glXGetProcAddressARB");
    const int asks_loader = strcmp(way, "dlsym") == 0;
#define FIND(name) (asks_loader ? dlsym(library, name) : (void*)address((const GLubyte*)(name)))
    swap = (void (*)(Display*, GLXDrawable))FIND("glXSwapBuffers");
    push = (PFNGLPUSHDEBUGGROUPPROC)FIND("glPushDebugGroup");
    pop = (PFNGLPOPDEBUGGROUPPROC)FIND("glPopDebugGroup");
    insert = (PFNGLDEBUGMESSAGEINSERTPROC)FIND("glDebugMessageInsert");
  }
  // The next definition in the search order is found as without us, and a missing function is not found.
  if (dlsym(RTLD_NEXT, "glXQueryVersion") == NULL || dlsym(RTLD_DEFAULT, "no_such_function") != NULL) return 1;
  for (int frame = 0; frame < 3; ++frame) {
    push(GL_DEBUG_SOURCE_APPLICATION, 1, -1, "scene");
    push(GL_DEBUG_SOURCE_APPLICATION, 2, 6, "shadowsXXX");
    glClearColor(frame == 0, frame == 1, frame == 2, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    pop();
    insert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_MARKER, 3, GL_DEBUG_SEVERITY_NOTIFICATION, -1, "drawn");
    pop();
    if (frame == 2) {
      unsigned char pixel[4] = {0};
      glReadPixels(1, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
      printf("pixel %d %d %d\n", pixel[0], pixel[1], pixel[2]);
    }
    swap(display, window);
  }
  printf("error %d\n", (int)glGetError());
  glXMakeCurrent(display, None, NULL);
  glXDestroyContext(display, context);
  XCloseDisplay(display);
  return 0;
}

// A library with the standard ABI of MPI 5, as far as a test needs it, and a program that uses it. With -DLIBRARY, this is the library.
//
// The program prints what reaches the library.
#include <stdio.h>

typedef struct MPI_ABI_Comm* MPI_Comm;
typedef struct MPI_ABI_Datatype* MPI_Datatype;
int MPI_Abi_get_version(int* major, int* minor);
int MPI_Init(int* count, char*** arguments);
int MPI_Send(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator);
int MPI_Recv(void* bytes, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator, void* status);
int MPI_Finalize(void);

#ifdef LIBRARY
int MPI_Abi_get_version(int* major, int* minor) {
  *major = 1;
  *minor = 0;
  return 0;
}
int MPI_Init(int* count, char*** arguments) { return count == 0 || arguments == 0; }
int MPI_Send(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator) {
  printf("send %d %d of %p to %d, tag %d, in %p\n", *(const int*)bytes, count, (void*)type, to, tag, (void*)communicator);
  return 0;
}
int MPI_Recv(void* bytes, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator, void* status) {
  printf("receive %d of %p from %d, tag %d, in %p, status %p\n", count, (void*)type, from, tag, (void*)communicator, status);
  *(int*)bytes = 42;
  return 0;
}
int MPI_Finalize(void) { return 0; }
#else
int main(int count, char** arguments) {
  MPI_Comm world = (MPI_Comm)0x101;
  MPI_Datatype integers = (MPI_Datatype)0x209;
  int number = 7;
  MPI_Init(&count, &arguments);
  MPI_Send(&number, 1, integers, 3, 11, world);
  MPI_Recv(&number, 1, integers, -1, -2, world, (void*)0);
  printf("received %d\n", number);
  MPI_Finalize();
  return 0;
}
#endif

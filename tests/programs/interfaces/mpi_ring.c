/* Messages of MPI with known counts, sizes and peers, in C, built by the test with any mpicc that is found.
 *
 * Rank r sends 3 messages of 1024 * (r + 1) bytes with tag 7 to the next rank of a ring, one of 8 doubles with MPI_Sendrecv, and 2 of 16 ints that
 * need no waiting. Rank 0 also receives a message of 24 bytes from the last rank without naming the sender; it is sent with a 64-bit count
 * if there seems to be a function for that. Then collectives of 100 doubles. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;

  char* out = calloc(1024, (size_t)size);
  char* in = calloc(1024, (size_t)size);
  for (int i = 0; i < 3; ++i) {
    MPI_Request request;
    MPI_Irecv(in, 1024 * size, MPI_BYTE, previous, 7, MPI_COMM_WORLD, &request);
    MPI_Send(out, 1024 * (rank + 1), MPI_BYTE, next, 7, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  double eight[8] = {0}, other[8];
  MPI_Sendrecv(eight, 8, MPI_DOUBLE, next, 8, other, 8, MPI_DOUBLE, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int numbers[2][16] = {{0}}, received[2][16];
  MPI_Request requests[4];
  for (int i = 0; i < 2; ++i) {
    MPI_Irecv(received[i], 16, MPI_INT, previous, 9 + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Isend(numbers[i], 16, MPI_INT, next, 9 + i, MPI_COMM_WORLD, &requests[2 + i]);
  }
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  if (rank == size - 1) {
    int (*send)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm) = dlsym(RTLD_DEFAULT, "MPI_Send_c");
    if (send != NULL)
      send(eight, 3, MPI_DOUBLE, 0, 11, MPI_COMM_WORLD);
    else
      MPI_Send(eight, 3, MPI_DOUBLE, 0, 11, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    MPI_Status status;
    MPI_Recv(other, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_SOURCE != size - 1 || status.MPI_TAG != 11) printf("wrong status\n");
  }

  double* one = calloc(100, sizeof(double));
  double* all = calloc(100, sizeof(double) * (size_t)size);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(one, 100, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, one, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(one, all, 100, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Gather(one, 100, MPI_DOUBLE, rank == 1 ? all : NULL, rank == 1 ? 100 : 0, rank == 1 ? MPI_DOUBLE : MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 100, MPI_DOUBLE, MPI_COMM_WORLD);

  /* Ranks of another communicator are in reverse order: its rank 0 is the last of all. */
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  MPI_Comm_set_name(reversed, "reversed");
  if (rank == 0) MPI_Send(one, 5, MPI_DOUBLE, 0, 12, reversed);
  if (rank == size - 1) MPI_Recv(one, 5, MPI_DOUBLE, size - 1, 12, reversed, MPI_STATUS_IGNORE);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  printf("rank %d of %d\n", rank, size);
  return 0;
}

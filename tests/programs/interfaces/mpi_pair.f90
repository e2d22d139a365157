! Messages of two ranks, from Fortran: 100 reals of 8 bytes from rank 0 to rank 1 with tag 5, a barrier, and a sum of 50 integers.
program mpi_pair
  use mpi
  implicit none
  integer :: rank, error, i, sums(50), numbers(50)
  real(8) :: values(100)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  values = 1
  if (rank == 0) call MPI_Send(values, 100, MPI_DOUBLE_PRECISION, 1, 5, MPI_COMM_WORLD, error)
  if (rank == 1) call MPI_Recv(values, 100, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  numbers = [(i, i = 1, 50)]
  call MPI_Allreduce(numbers, sums, 50, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0) print '(A,I0)', 'last sum ', sums(50)
  call MPI_Finalize(error)
end program mpi_pair

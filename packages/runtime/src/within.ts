// Waits for work that nothing else ends, and no longer than it may take.

/** What `work` comes to, or the error of `late` after so many milliseconds. The work itself goes on: nobody hears of it then. */
export async function within<Result>(
  limitMs: number,
  work: Promise<Result>,
  late: () => Error,
): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(late()), limitMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

// Whether a run has the time for everything: `npm run test-long` has, `npm test` takes a slice of what is long by nature.

/** The list of what `npm test` leaves out is this name and `sliceOf`, looked up in the checkout. */
export const isLong: boolean = process.env['BATON_TEST_LONG'] === '1'

/** Every case in a long run; otherwise the first one and each so many after it, the same in every run. */
export const sliceOf = <Case>(cases: readonly Case[], every: number): readonly Case[] =>
  isLong ? cases : cases.filter((_, index) => index % every === 0)

// How figures are shown to people: money, times, counts.

export const dollars = (microUSD: number): string => `$${(microUSD / 1_000_000).toFixed(4)}`

export const milliseconds = (ms: number): string =>
  ms >= 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms)} ms`

export const count = (value: number): string => value.toLocaleString('en-US')

/** "1 task", "2 tasks". */
export const counted = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`

/** The first part of a UUID or hash; enough to find it again with this command line. */
export const short = (id: string): string => id.slice(0, 8)

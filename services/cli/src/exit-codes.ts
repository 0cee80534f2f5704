// Exit codes outsiders rely on; frozen.
export const EXIT = {
  fine: 0,
  failure: 1,
  usage: 2,
  verificationFailed: 3,
  /** A gap or a missing key: it cannot be said. */
  incomplete: 4,
  notFound: 5,
  notAllowed: 6,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

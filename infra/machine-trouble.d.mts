// Types of machine-trouble.mjs, which stays plain JavaScript because boot.mjs runs it on any Node from 18.

export interface MachineTrouble {
  readonly code: `BATON_${string}`
  /** What is wrong with the machine, in words. */
  readonly message: string
  /** How to mend it, as sentences. */
  readonly fix: string
}

export function machineTrouble(problem: unknown): MachineTrouble | undefined

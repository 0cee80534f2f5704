// Which of several servers takes writes now. One that was replaced and came back is never written to again by a process that
// knows the one that replaced it: each promotion begins a new timeline, and only the newest one counts.

/** What a server says of itself. */
export interface Standing {
  /** The same for a primary and all that follow it. */
  readonly systemId: string
  readonly timeline: number
  readonly isWritable: boolean
}

/** Why a server is not the one to write to. */
export type Refusal = 'standby' | 'replaced' | 'stranger'

/** What is known of so many servers, each by its place in their list. */
export interface FailOver {
  /** Where a connection is tried first. */
  first(): number
  /** It did not answer, or takes no writes any more: the one after it is tried first from now on. */
  leave(server: number): void
  /** Judges a server by what it says: undefined for the one to write to, which is tried first from then on. */
  judge(server: number, standing: Standing): Refusal | undefined
}

export function followFailOver(servers: number): FailOver {
  let first = 0
  let known: Pick<Standing, 'systemId' | 'timeline'> | undefined
  return {
    first: () => first,
    leave(server) {
      if (server === first) first = (first + 1) % servers
    },
    judge(server, { systemId, timeline, isWritable }) {
      if (known !== undefined && known.systemId !== systemId) return 'stranger'
      if (!isWritable) return 'standby'
      if (known !== undefined && timeline < known.timeline) return 'replaced'
      known = { systemId, timeline }
      first = server
      return undefined
    },
  }
}

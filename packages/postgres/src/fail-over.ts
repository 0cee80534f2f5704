// Which of several servers takes writes now. One that was replaced is never written to again, even if it comes back and takes writes:
// each promotion begins a new timeline, and only the newest that any of them knows of counts.

/** What a server says of itself. */
export interface ServerStanding {
  /** The same for a primary and all that follow it. */
  readonly systemId: string
  /** The one it writes, or follows. */
  readonly timeline: number
  readonly isWritable: boolean
}

/** Why a server is not the one to write to. */
export type Refusal = 'silent' | 'standby' | 'replaced' | 'stranger'

/** What is known of some servers, each by its place in their list. */
export interface FailOver {
  /** The one to write to; undefined where all have to be asked. */
  primary(): number | undefined
  /** It did not answer, or takes no writes any more: all have to be asked again. */
  leave(server: number): void
  /** Whether a server is, by what it says now, not the one to write to. */
  refuse(standing: ServerStanding): Refusal | undefined
  /** Chooses by what all of them said, undefined for one that did not; answers why each of the others is not the one. */
  choose(standings: readonly (ServerStanding | undefined)[]): readonly (Refusal | undefined)[]
}

export function followFailOver(): FailOver {
  let primary: number | undefined
  let known: Pick<ServerStanding, 'systemId' | 'timeline'> | undefined

  function refuse({ systemId, timeline, isWritable }: ServerStanding): Refusal | undefined {
    if (known !== undefined && known.systemId !== systemId) return 'stranger'
    if (!isWritable) return 'standby'
    return known !== undefined && timeline < known.timeline ? 'replaced' : undefined
  }

  return {
    primary: () => primary,
    leave(server) {
      if (server === primary) primary = undefined
    },
    refuse,
    choose(standings) {
      const said = standings.filter((one) => one !== undefined)
      const systemId =
        known?.systemId ?? (said.find(({ isWritable }) => isWritable) ?? said[0])?.systemId
      const own = said.filter((one) => one.systemId === systemId)
      // A standby also proves that there was a fail-over.
      const timeline = Math.max(known?.timeline ?? 0, ...own.map((one) => one.timeline))
      if (systemId !== undefined) known = { systemId, timeline }
      const refusals = standings.map((one) => (one === undefined ? 'silent' : refuse(one)))
      const chosen = refusals.indexOf(undefined)
      primary = chosen === -1 ? undefined : chosen
      return refusals
    },
  }
}

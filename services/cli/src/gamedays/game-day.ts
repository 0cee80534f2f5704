// What a game day is, as data and two functions: what it breaks, which alerts must tell, and what mends it.
import type { Services } from './services-of-day.ts'
import type { Load } from './load.ts'
import type { SlowLink } from './slow-link.ts'

/** One metric that the alert reads, as a single number over all processes. */
export interface Watched {
  readonly metric: string
  readonly where?: Readonly<Record<string, string>>
  readonly how: 'max' | 'min' | 'sum'
}

/** What a day may lay hands on: an instance of its own and nothing else. */
export interface Scene {
  readonly services: Services
  readonly load: Load
  /** Runs a statement as superuser of the instance’s Postgres, in one of its databases. */
  readonly sql: (database: 'baton' | 'baton_audit', text: string) => Promise<readonly object[]>
  /** Folder of the instance. */
  readonly home: string
  /** Runs this command line against the instance, as a reviewer would; answers its data. Throws where it fails. */
  readonly baton: (...args: readonly string[]) => Promise<string>
  /** The same as another reviewer: nobody confirms what they asked for themselves. */
  readonly batonAs: (who: 'reviewer-2', ...args: readonly string[]) => Promise<string>
  /** Asks the auditor for a verification of the whole log; answers its verdict. */
  readonly verify: () => Promise<string>
  /** Opens a link to a server that can be made slow. */
  readonly slowLink: (url: string) => Promise<Pick<SlowLink, 'url' | 'delay'>>
  /** Puts a folder of the instance on a small disk of its own; see `needsRoot`. */
  readonly smallDisk: (folder: string) => Promise<void>
  /** So many people who list tasks at the gateway, or trace the newest one, each twice a second, until the day is over. */
  readonly readers: (count: number, what: 'tasks' | 'traces') => void
  readonly pause: (ms: number) => Promise<void>
}

/** A limit that would take too long to reach: it is divided for this day alone, and the day says so. */
export interface LoweredLimit {
  readonly alert: string
  /** As the rule compares with it. */
  readonly limit: number
  readonly dividedBy: number
}

export interface GameDay {
  readonly name: string
  /** What is broken, in one line. */
  readonly breaks: string
  /** All of them must fire, and go again. */
  readonly alerts: readonly string[]
  readonly watched: Watched
  /** So many times faster the windows of rules pass; limits that a rule compares with stay as they are. */
  readonly timesFaster: number
  readonly lowered?: LoweredLimit
  /** Without root it is skipped. */
  readonly needsRoot?: boolean
  /** About how long it takes, from nothing to the end. */
  readonly seconds: number
  /** Tasks each second, of two handoffs each. */
  readonly perSecond: number
  /** Whether it needs a relay of its own, which there is only with Redis. */
  readonly withRedis?: boolean
  /** Settings of services from the start, by service. */
  readonly settings?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** What must be there before it is calm. */
  readonly prepare?: (scene: Scene) => Promise<void>
  readonly breakIt: (scene: Scene) => Promise<void>
  readonly mend: {
    /** What the runbook has a person do, as commands or words; said before it is done. */
    readonly says: readonly string[]
    readonly run: (scene: Scene) => Promise<void>
  }
}

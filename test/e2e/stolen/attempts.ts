// All that thieves try, by what it is called in infra/threat-model.md.
import {
  deleteRecords,
  destroyKeys,
  forgeErasure,
  forgeRecord,
  liftHold,
  setHold,
  signSeal,
} from './attack-log.ts'
import type { Told } from './attack-log.ts'
import { enterBeside } from './entering.ts'
import {
  closeStopped,
  forgeApproval,
  forgeDiscard,
  forgeRelease,
  writeVote,
} from './forge-decisions.ts'
import type { Loot } from './loot.ts'
import type { WayOutcome } from './outcome.ts'
import { cancelOther, makeKey, readOther, readStopped, sendAsOther } from './reach.ts'
import type { Handed, Scene } from './scene.ts'

/** What a thief may do with as they like: nobody else touches it. */
export interface Victims {
  /** Quarantined, and a second one. */
  readonly stopped: Handed
  readonly other: Handed
  /** Waits for somebody's approval. */
  readonly waiting: Handed
  /** Open work of another tenant. */
  readonly others: Handed
  /** Records about somebody, and of a task that a person holds. */
  readonly told: Told
  readonly held: Told
}

type Attempt = (scene: Scene, loot: Loot, victims: Victims) => Promise<readonly WayOutcome[]>

/** In the order in which they are made: what reads comes before what destroys. */
export const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  'read the text of another tenant': readOther,
  'read what was quarantined': readStopped,
  'write a vote': writeVote,
  'enter a database beside Baton’s': enterBeside,
  'make a key, a tenant or a grant': makeKey,
  'send as another tenant or agent': sendAsOther,
  'release what was quarantined': forgeRelease,
  'approve what waits for a person': forgeApproval,
  'record a discard in somebody’s name': forgeDiscard,
  'close what was quarantined': closeStopped,
  'record what never was': forgeRecord,
  'hold a task': setHold,
  'lift a hold': liftHold,
  'erase a person from the log': forgeErasure,
  'delete from the log': deleteRecords,
  'sign a seal': signSeal,
  'cancel the work of another tenant': cancelOther,
  'destroy the keys of recorded texts': destroyKeys,
}

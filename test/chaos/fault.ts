// What a fault is: a kind with a weight, drawn parameters, and a function that makes it and heals it again.
import type { SeededRandom } from '@baton/testkit'
import type { Driver } from './driver.ts'
import type { World } from './world.ts'

export type Parameters = Readonly<Record<string, number | string>>

export interface Fault {
  /** Milliseconds after the traffic began. */
  readonly atMs: number
  readonly kind: string
  readonly target: string
  readonly parameters: Parameters
}

/** Where a fault happens: the system, its traffic, and the parameters drawn for it. */
export interface Scene {
  readonly world: World
  readonly driver: Driver
  readonly random: SeededRandom
  readonly target: string
  number(name: string): number
}

export interface FaultKind {
  readonly kind: string
  /** How often it is drawn, compared with the others. */
  readonly weight: number
  readonly targets: readonly string[]
  /** Faults on the same resource happen one after the other; by default the target. */
  readonly resource?: string
  /** A kind that takes long happens no later than this share of the run. */
  readonly latest?: number
  /** Drawn once for each fault, so that a seed repeats them. */
  draw(random: SeededRandom): Parameters
  /** Resolves once the fault is over and healed; rejects where it could not be made. */
  make(scene: Scene): Promise<void>
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms))

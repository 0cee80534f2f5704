// What people and operators do while everything runs: cancel, release, correct, restart, rotate keys.
import { parseSigningKeys } from '@baton/sdk'
import type { FaultKind, Scene } from './fault.ts'
import { freshSecret, SLOTS } from './world.ts'

const onOperations = { targets: ['operations'], resource: 'operations' } as const

/** One after the other, as an orchestrator does; what is left when the traffic ends stays as it is. */
/** Answers false where the campaign is over before all are replaced. */
async function replaceAll({ world, driver }: Scene, names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    if (driver.stopped()) return false
    await world.slots.get(name)?.replace()
  }
  return true
}

const RECEIVERS = SLOTS.receiver
const SENDERS = [...SLOTS.gateway, ...SLOTS.sender]

const byPeople = (
  kind: string,
  weight: number,
  act: (scene: Scene) => Promise<number>,
): FaultKind => ({
  kind,
  weight,
  targets: ['people'],
  resource: kind,
  draw: (random) => ({ count: random.integer(1, 5) }),
  make: async (scene) => void (await act(scene)),
})

/** To add an operation, add a row. */
export const OPERATION_FAULTS: readonly FaultKind[] = [
  byPeople('operations.cancel', 4, (scene) => scene.world.people.cancelSome(scene.number('count'))),
  byPeople('operations.release', 4, (scene) =>
    scene.world.people.releaseSome(scene.number('count')),
  ),
  byPeople('operations.correct-returns', 3, ({ world }) => world.people.correctReturns()),
  {
    kind: 'operations.rolling-restart',
    weight: 2,
    ...onOperations,
    latest: 0.6,
    draw: () => ({}),
    make: async (scene) => void (await replaceAll(scene, [...RECEIVERS, ...SLOTS.relay])),
  },
  {
    // Receivers learn the new key first; then it signs; the old one, with which they sign on, is still believed.
    kind: 'operations.rotate-key',
    weight: 2,
    ...onOperations,
    latest: 0.5,
    draw: () => ({}),
    async make(scene) {
      const { world } = scene
      const known = world.signingKeys.split(',')
      const id = `k${known.length + 1}`
      const secret = freshSecret()
      world.signingKeys = [...known, `${id}:verify-only:${secret}`].join(',')
      if (!(await replaceAll(scene, RECEIVERS))) return
      const retired = known.map((entry) => entry.replace(':active:', ':verify-only:'))
      world.signingKeys = [`${id}:active:${secret}`, ...retired].join(',')
      world.channels.useKeys(parseSigningKeys(world.signingKeys))
      await replaceAll(scene, SENDERS)
    },
  },
]

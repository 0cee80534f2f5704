// Faults of the network between two parts: slow, losing, split, half open, sliced, reset inside an answer.
import type { Conditions, Direction, Link } from '@baton/testkit'
import { pause } from './fault.ts'
import type { FaultKind, Scene } from './fault.ts'
import { LINKS } from './world.ts'
import type { LinkName } from './world.ts'

function linkOf({ world, target }: Scene): Link {
  const link = world.links.get(target as LinkName)
  if (link === undefined) throw new Error(`there is no link ${target}`)
  return link
}

async function worsened(scene: Scene, conditions: Partial<Conditions>): Promise<void> {
  const link = linkOf(scene)
  link.worsen(conditions)
  await pause(scene.number('forMs'))
  link.heal()
}

export const NETWORK_FAULTS: readonly FaultKind[] = [
  {
    kind: 'network.latency',
    weight: 4,
    targets: LINKS,
    draw: (random) => ({
      latencyMs: random.integer(50, 500),
      forMs: random.integer(500, 3_000),
    }),
    make: (scene) => worsened(scene, { latencyMs: scene.number('latencyMs'), jitterMs: 50 }),
  },
  {
    kind: 'network.loss',
    weight: 3,
    targets: LINKS,
    draw: (random) => ({ percent: random.integer(5, 20), forMs: random.integer(500, 3_000) }),
    make: (scene) => worsened(scene, { stallShare: scene.number('percent') / 100 }),
  },
  {
    kind: 'network.slicer',
    weight: 3,
    targets: LINKS,
    draw: (random) => ({ bytes: random.integer(1, 16), forMs: random.integer(500, 3_000) }),
    make: (scene) => worsened(scene, { sliceBytes: scene.number('bytes'), jitterMs: 1 }),
  },
  {
    kind: 'network.split',
    weight: 4,
    targets: LINKS,
    draw: (random) => ({
      forMs: random.integer(500, 5_000),
      reset: random.integer(0, 1),
    }),
    async make(scene) {
      const link = linkOf(scene)
      link.worsen({ held: true })
      await pause(scene.number('forMs'))
      if (scene.number('reset') === 1) link.reset()
      link.heal()
    },
  },
  {
    kind: 'network.half-open',
    weight: 4,
    targets: LINKS,
    latest: 0.75,
    draw: (random) => ({
      direction: random.integer(0, 2),
      forMs: random.integer(500, 4_000),
    }),
    async make(scene) {
      const link = linkOf(scene)
      link.fallSilent(DIRECTIONS[scene.number('direction')])
      await pause(scene.number('forMs'))
      link.heal()
    },
  },
  {
    kind: 'network.reset-in-answer',
    weight: 5,
    targets: LINKS,
    draw: (random) => ({ bytes: random.integer(1, 400), forMs: random.integer(300, 1_500) }),
    make: (scene) => worsened(scene, { sliceBytes: 64, resetAfterBytes: scene.number('bytes') }),
  },
  {
    kind: 'network.reset',
    weight: 3,
    targets: LINKS,
    draw: () => ({}),
    make: async (scene) => linkOf(scene).reset(),
  },
  {
    kind: 'network.down',
    weight: 2,
    targets: LINKS,
    draw: (random) => ({ forMs: random.integer(200, 2_000) }),
    async make(scene) {
      const link = linkOf(scene)
      link.cut()
      await pause(scene.number('forMs'))
      link.heal()
    },
  },
]

const DIRECTIONS: readonly Direction[] = ['up', 'down', 'both']

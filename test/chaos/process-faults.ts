// Faults of processes: killed, stopped, told twice to end, blocked, with a clock that is wrong.
import { eventually } from '@baton/testkit'
import { pause } from './fault.ts'
import type { FaultKind, Scene } from './fault.ts'
import type { Slot } from './slot.ts'
import { LASTING, LASTING_STREAM, sendingOf } from './traffic.ts'
import { LEASE_MS, SLOTS } from './world.ts'

const SERVICES = Object.values(SLOTS).flat()
const WORKERS = [...SLOTS.receiver, ...SLOTS.relay]

/** The slot of that name; throws where there is none. */
function slotOf({ world, target }: Pick<Scene, 'world' | 'target'>): Slot {
  const slot = world.slots.get(target)
  if (slot === undefined) throw new Error(`there is no process ${target}`)
  return slot
}

const killed = (kind: string, weight: number, targets: readonly string[]): FaultKind => ({
  kind,
  weight,
  targets,
  draw: (random) => ({ downMs: random.integer(50, 1_500) }),
  make: (scene) => slotOf(scene).kill(scene.number('downMs')),
})

const BEGUN = `select count(*)::integer as begun from execution e join handoff h on h.id = e.handoff_id
  where e.handoff_id = any($1::uuid[]) and e.status = 'EXECUTING' and (e.chunks > 0 or h.to_agent <> 'streamed')`
const BEGUN_MAX_MS = 20_000

/** Sends as many streams as other work; all of it takes longer than a lease. Resolves once half of each has begun, wherever that is. */
async function beginLasting({ world, driver, random }: Scene, ofEach: number): Promise<void> {
  const begin = async (kind: typeof LASTING): Promise<void> => {
    const sendings = Array.from({ length: ofEach }, () => sendingOf(kind, random))
    const ids = sendings.map(({ state }) => state.handoffId)
    for (const sending of sendings) void driver.send(sending)
    const begun = async (): Promise<number> => {
      const { rows } = await world.admin.query<{ begun: number }>({ text: BEGUN, values: [ids] })
      return rows[0]?.begun ?? 0
    }
    await eventually(async () => (await begun()) >= ofEach / 2, {
      deadlineMs: BEGUN_MAX_MS,
      describe: `half of the ${kind.kind} work has begun`,
    })
  }
  await Promise.all([begin(LASTING), begin(LASTING_STREAM)])
}

let blocks = 0

export const PROCESS_FAULTS: readonly FaultKind[] = [
  killed('process.kill.receiver', 9, SLOTS.receiver),
  killed('process.kill.relay', 5, SLOTS.relay),
  killed('process.kill.auditor', 3, SLOTS.auditor),
  killed('process.kill.sender', 3, [...SLOTS.sender, ...SLOTS.gateway]),
  {
    kind: 'process.stop',
    weight: 12,
    targets: [...SLOTS.receiver, ...SERVICES],
    draw: (random) => ({ forMs: Math.round(LEASE_MS * (0.1 + random.next() * 3.9)) }),
    async make(scene) {
      const slot = slotOf(scene)
      await slot.signal('SIGSTOP')
      await pause(scene.number('forMs'))
      await slot.signal('SIGCONT')
    },
  },
  {
    // Only where the schedule says so. What it executes is claimed again elsewhere before it wakes,
    // and both have work left then.
    kind: 'process.overtaken',
    weight: 0,
    targets: SLOTS.receiver,
    draw: () => ({ ofEach: 12, forMs: 2 * LEASE_MS }),
    async make(scene) {
      await beginLasting(scene, scene.number('ofEach'))
      const slot = slotOf(scene)
      await slot.signal('SIGSTOP')
      await pause(scene.number('forMs'))
      await slot.signal('SIGCONT')
    },
  },
  {
    kind: 'process.terminate-twice',
    weight: 3,
    targets: WORKERS,
    draw: (random) => ({ gapMs: random.integer(0, 1_200) }),
    async make(scene) {
      const slot = slotOf(scene)
      await slot.signal('SIGTERM')
      await pause(scene.number('gapMs'))
      await slot.signal('SIGTERM')
    },
  },
  {
    kind: 'process.block',
    weight: 4,
    targets: [...SLOTS.receiver, ...SLOTS.relay, ...SLOTS.auditor],
    draw: (random) => ({ forMs: random.integer(300, 3 * LEASE_MS) }),
    async make(scene) {
      blocks += 1
      slotOf(scene).control({ blockMs: scene.number('forMs'), blockId: blocks })
      await pause(scene.number('forMs'))
    },
  },
  {
    kind: 'clock.jump',
    weight: 4,
    targets: SERVICES,
    draw: (random) => ({
      offsetMs: random.pick([-1, 1]) * random.integer(30_000, 600_000),
      forMs: random.integer(1_000, 5_000),
    }),
    async make(scene) {
      const slot = slotOf(scene)
      slot.control({ offsetMs: scene.number('offsetMs') })
      await pause(scene.number('forMs'))
      slot.control({ offsetMs: 0 })
    },
  },
  {
    kind: 'clock.drift',
    weight: 2,
    targets: SERVICES,
    draw: (random) => ({ rate: random.pick([0.5, 2]), forMs: random.integer(2_000, 8_000) }),
    async make(scene) {
      const slot = slotOf(scene)
      slot.control({ rate: scene.number('rate') })
      await pause(scene.number('forMs'))
      slot.control({ rate: 1 })
    },
  },
  {
    kind: 'clock.jump-and-kill',
    weight: 2,
    targets: SLOTS.receiver,
    draw: (random) => ({ offsetMs: 600_000, forMs: random.integer(800, 2_000) }),
    async make(scene) {
      const slot = slotOf(scene)
      slot.control({ offsetMs: scene.number('offsetMs') })
      await pause(scene.number('forMs'))
      await slot.kill(100)
      slot.control({ offsetMs: 0 })
    },
  },
]

// Whatever somebody with the superuser's rights does: every reading of the log finds it, or says what it said before.
// BATON_TEST_ATTACKS=2000 runs a campaign; each seed is an attack that can be repeated with BATON_TEST_SEED.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isLong, randomFrom, sliceOf } from '@baton/testkit'
import { faultOf, readAll } from './attack-readings.ts'
import type { Answer, Reading } from './attack-readings.ts'
import { attackOf } from './attack-statements.ts'
import type { Step } from './attack-statements.ts'
import { createAttackWorld } from './attack-world.ts'
import type { AttackWorld } from './attack-world.ts'
import { KNOWN_ATTACKS } from './known-attacks.ts'

const ATTACKS = Number(process.env['BATON_TEST_ATTACKS'] ?? (isLong ? 8 : 3))
/** A campaign says so often how far it is. */
const PROGRESS_EVERY = 50
const FIRST_SEED = Number(process.env['BATON_TEST_SEED'] ?? 1)
const AT_ONCE = 2

let world: AttackWorld
let untouched: ReadonlyMap<Reading, Answer>

beforeAll(async () => {
  world = await createAttackWorld()
  untouched = await readingsAfter([])
}, 120_000)
afterAll(() => world?.close())

async function readingsAfter(steps: readonly Step[]) {
  const log = await world.copy()
  try {
    for (const step of steps) await step.run(log).catch(refused)
    return await readAll(world, log)
  } finally {
    await log.close()
  }
}

// Postgres refuses some of what is made up: then that step was no attack.
const refused = () => undefined

describe.each(sliceOf(KNOWN_ATTACKS, 3).map((attack) => [attack.name, attack] as const))(
  '%s',
  (name, attack) => {
    test('is found, located by none of the readings wrongly', async () => {
      const log = await world.copy()
      onTestFinished(() => log.close())
      for (const step of attack.steps(world.tasks)) await step.run(log)
      const answers = await readAll(world, log)
      const wrong = [...answers].flatMap(([reading, answer]) => {
        const fault = faultOf(reading, untouched.get(reading) as Answer, answer)
        return fault === undefined ? [] : [`${reading} ${fault}`]
      })
      expect(wrong).toEqual([])
      const kinds = new Map([...answers].map(([reading, { kind }]) => [reading, kind]))
      expect(kinds.get('verify')).toBe(attack.verify === 'found' ? 'found' : 'answered')
      for (const task of attack.traces ?? [])
        expect([task, kinds.get(`trace ${task}`)]).toEqual([task, 'found'])
      for (const reading of attack.others ?? [])
        expect([reading, kinds.get(reading)]).toEqual([reading, 'found'])
      const row = [...answers].map(([reading, answer]) => {
        return `${reading}: ${answer.kind === 'found' ? answer.what.slice(0, 160) : 'as before'}`
      })
      process.stderr.write(`attack ${name}\n  ${row.join('\n  ')}\n`)
    })
  },
)

test('an untouched log is answered for by every reading', () => {
  for (const [reading, answer] of untouched)
    expect([reading, answer.kind]).toEqual([reading, 'answered'])
})

test(
  `none of ${ATTACKS} attacks ends in a wrong answer`,
  { timeout: 60_000 + ATTACKS * 10_000 },
  async () => {
    const wrong: string[] = []
    const kinds = new Map<string, number>()
    let next = FIRST_SEED
    const attack = async () => {
      while (next < FIRST_SEED + ATTACKS) {
        const seed = next++
        const done = seed - FIRST_SEED
        if (done > 0 && done % PROGRESS_EVERY === 0)
          process.stderr.write(`${done} attacks, ${wrong.length} wrong answers\n`)
        const steps = attackOf(randomFrom(seed))
        const answers = await readingsAfter(steps)
        for (const [reading, answer] of answers) {
          const kind = `${reading} ${answer.kind}`
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
          const fault = faultOf(reading, untouched.get(reading) as Answer, answer)
          if (fault === undefined) continue
          const did = steps.map(({ text }) => text.replaceAll(/\s+/g, ' ')).join(' ;; ')
          wrong.push(`seed ${seed}: ${reading} ${fault}: ${did}`)
          process.stderr.write(`${wrong.at(-1)}\n`)
        }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, attack))
    process.stderr.write(`attacks: ${JSON.stringify(Object.fromEntries([...kinds].toSorted()))}\n`)
    expect(wrong).toEqual([])
  },
)

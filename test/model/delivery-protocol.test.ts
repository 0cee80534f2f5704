// The delivery protocol, state by state: no interleaving and no faults break a promise, and every missing part is noticed.
import { describe, expect, it } from 'vitest'
import { decisionsFor } from './decisions.ts'
import { ALL_RULES, ANY_FAULTS, protocolOf } from './protocol.ts'
import type { Bounds } from './protocol.ts'
import { explore } from './search.ts'
import type { Found } from './search.ts'
import type { Rules } from './statements.ts'
import { FLAWS } from './world.ts'
import type { Size } from './world.ts'

/** The largest search takes half a minute of one core with three workers, as in `npm run test-long`. */
const isLong = process.env['BATON_TEST_LONG'] === '1'
const [WORKERS, RELAYS, STATES_MIN] = isLong ? [3, 2, 1_000_000] : [2, 1, 500_000]

const STATES_MAX = 8_000_000
const SECONDS_MAX = 600

interface Configuration extends Partial<Size> {
  readonly attemptsMax?: number
  readonly flawed?: boolean
  readonly approvals?: boolean
  readonly deadlines?: boolean
  readonly cancels?: boolean
}

function search(name: string, configuration: Configuration, rules = ALL_RULES): Found {
  const { attemptsMax = 2, flawed = false } = configuration
  const { approvals = false, deadlines = false, cancels = false } = configuration
  const { handoffs = 1, workers = 3, relays = 2, clicks = 0, faults = 1 } = configuration
  const flaws: Bounds['flaws'] = [flawed ? FLAWS : ['none'], ['none']]
  const decisions = decisionsFor(attemptsMax)
  const bounds = { decisions, attemptsMax, flaws, approvals, deadlines, cancels }
  const protocol = protocolOf({ handoffs, workers, relays, clicks, faults }, bounds, rules)
  const found = explore(protocol, { statesMax: STATES_MAX })
  const { states, transitions, settled, seconds } = found
  process.stderr.write(
    `model: ${name}: ${states} states, ${transitions} transitions, ${settled} settled, ${seconds.toFixed(1)} s\n`,
  )
  return found
}

describe('with every part in force, all promises hold in every state and everything can end', () => {
  it(
    `everything that people and the calendar may do to a handoff, among ${WORKERS} workers`,
    { timeout: SECONDS_MAX * 1_000 },
    () => {
      const all = {
        workers: WORKERS,
        relays: RELAYS,
        flawed: true,
        deadlines: true,
        cancels: true,
        clicks: 2,
      }
      const found = search('every choice, one fault', all)
      expect(found.broken).toBeUndefined()
      expect(found.states).toBeGreaterThan(STATES_MIN)
    },
  )

  it('a handoff that waits for approval', () => {
    expect(
      search('approval', { attemptsMax: 1, approvals: true, deadlines: true, cancels: true })
        .broken,
    ).toBeUndefined()
  })

  it('any two faults', () => {
    expect(search('two faults', { faults: 2 }).broken).toBeUndefined()
  })

  it('any number of faults, one worker that is started again and again', () => {
    expect(
      search('any faults', { workers: 1, relays: 1, faults: ANY_FAULTS }).broken,
    ).toBeUndefined()
  })

  it('two handoffs of one task, which execute in order', () => {
    expect(search('two handoffs', { handoffs: 2, attemptsMax: 1 }).broken).toBeUndefined()
  })
})

describe('without one of its parts the search finds what goes wrong', () => {
  const table: readonly (readonly [keyof Rules, string, RegExp, RegExp])[] = [
    ['fence', 'the fence', /^I4: two effects/, /commits the result/],
    ['sweeper', 'the sweeper', /^I2: from here nothing ends/, /loses the job/],
    ['auditFirst', 'the record before the effect', /^I3/, /starts to execute/],
    ['publishBeforeDelete', 'publishing before deleting', /^I2: from here/, /dies/],
    ['publishAttemptInJobId', 'the publish attempt in the job id', /^I2: from here/, /./],
    [
      'heartbeatByFencingToken',
      'the fencing token of a heartbeat',
      /^I4: a lost lease/,
      /extends its lease/,
    ],
    ['releaseOnce', 'the single use of a release', /^I2: 1 effects/, /click on release/],
  ]
  it.each(table)('%s', (rule, part, promise, last) => {
    const configuration = {
      workers: 2,
      relays: 1,
      faults: 2,
      attemptsMax: 1,
      ...(rule === 'releaseOnce' ? { flawed: true, clicks: 2 } : {}),
    }
    const { broken } = search(`without ${part}`, configuration, { ...ALL_RULES, [rule]: false })
    process.stderr.write(
      `model: without ${part}: ${broken?.promise}\n${(broken?.trace ?? []).map((line, at) => `  ${at + 1}. ${line}\n`).join('')}`,
    )
    expect(broken?.promise).toMatch(promise)
    expect(broken?.trace.at(-1)).toMatch(last)
  })
})

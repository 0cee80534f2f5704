// The written rules: every alert has examples, every window that it names is recorded, and
// promtool, where it is found, checks and runs them.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  alertingGroups,
  ALERTS,
  BURN_ALARMS,
  BURN_WINDOWS_SECONDS,
  burnRate,
  fasterBy,
  inPromql,
  isBurning,
  OBJECTIVES,
  recordingGroups,
} from '@baton/telemetry'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { ALERT_EXAMPLES } from './alert-examples.ts'

const INFRA = fileURLToPath(new URL('..', import.meta.url))
const hasPromtool = spawnSync('promtool', ['--version']).status === 0

describe('alerts', () => {
  it('have names of their own, and examples', () => {
    const names = ALERTS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(Object.keys(ALERT_EXAMPLES).toSorted()).toEqual(names.toSorted())
  })

  it('name windows that are recorded, also where time runs faster', () => {
    for (const span of [undefined, fasterBy(60)]) {
      const recorded = new Set(
        recordingGroups(span)
          .flatMap(({ rules }) => rules)
          .map((rule) => ('record' in rule ? rule.record : '')),
      )
      const read = alertingGroups('', span)
        .flatMap(({ rules }) => rules)
        .flatMap(({ expr }) => expr.match(/baton:[\w:]+/g) ?? [])
      expect(read.filter((name) => !recorded.has(name))).toEqual([])
      expect(read.length).toBeGreaterThan(20)
    }
  })
})

/** What promtool must say where so many of a thousand are too late for every objective, by the arithmetic of the levels. */
function burnTest(late: number): object {
  const handoffs = { total: 1_000, inTime: 1_000 - late }
  const input = OBJECTIVES.flatMap(({ transport, withinSeconds }) => [
    [`count{transport="${transport}"}`, handoffs.total] as const,
    [`bucket{transport="${transport}", le="${withinSeconds}"}`, handoffs.inTime] as const,
  ])
  const asked = OBJECTIVES.flatMap(({ id, share }) => {
    const burn = Number((burnRate(handoffs, share) ?? 0).toFixed(6))
    const burns = BURN_WINDOWS_SECONDS.filter((seconds) => seconds <= 3_600).map((seconds) => ({
      expr: `sum(round(baton:transport_latency_burn:rate${inPromql(seconds)}{objective="${id}"}, 0.000001))`,
      eval_time: '120m',
      exp_samples: [{ labels: '{}', value: burn }],
    }))
    const alerts = ALERTS.filter(({ name }) => name.includes('Burn')).map(({ name, severity }) => ({
      expr: `max by (objective) (ALERTS{alertname="${name}", objective="${id}", alertstate="firing"})`,
      eval_time: '120m',
      exp_samples: BURN_ALARMS.some(
        (alarm) => alarm.severity === severity && isBurning(alarm, () => handoffs, share),
      )
        ? [{ labels: `{objective="${id}"}`, value: 1 }]
        : [],
    }))
    return [...burns, ...alerts]
  })
  return {
    interval: '1m',
    input_series: [...new Map(input)].map(([series, each]) => ({
      series: `baton_handoff_latency_seconds_${series}`,
      values: `0+${each}x120`,
    })),
    promql_expr_test: asked,
  }
}

describe.skipIf(!hasPromtool)('promtool (skipped where it is not installed)', () => {
  const promtool = (...args: string[]) =>
    spawnSync('promtool', args, {
      cwd: join(INFRA, 'prometheus'),
      encoding: 'utf8',
      // A quarter of its work was to collect what it throws away at its end.
      env: { ...process.env, GOGC: 'off', GOMEMLIMIT: '1GiB' },
    })

  it('finds the rules in order', () => {
    const checked = promtool('check', 'rules', 'recording-rules.yml', 'alerting-rules.yml')
    expect(`${checked.stdout}${checked.stderr}`).toContain(`SUCCESS: ${ALERTS.length} rules found`)
    expect(checked.status).toBe(0)
  })

  it('burns error budgets as the levels from the database do', () => {
    const rules = [...recordingGroups(), ...alertingGroups('')]
      .filter(({ name }) => /^baton-(?:latency|service-level)$/.test(name))
      .flatMap((group) => group.rules)
      .filter((rule) => 'record' in rule || rule.alert.includes('Burn'))
    const folder = mkdtempSync(join(tmpdir(), 'rules-'))
    const file = join(folder, 'test.yml')
    writeFileSync(join(folder, 'rules.yml'), stringify({ groups: [{ name: 'burn', rules }] }))
    const tests = [0, 5, 45, 75, 200].map((late) => burnTest(late))
    writeFileSync(file, stringify({ rule_files: ['rules.yml'], evaluation_interval: '1h', tests }))
    const tested = promtool('test', 'rules', file)
    rmSync(folder, { recursive: true })
    expect(`${tested.stdout}${tested.stderr}`).not.toContain('FAILED')
    expect(tested.status).toBe(0)
  }, 30_000)

  it('fires every alert in its one example, and none in the other', () => {
    const tested = promtool('test', 'rules', 'rule-tests.yml', 'rule-tests-hours.yml')
    expect(`${tested.stdout}${tested.stderr}`).not.toContain('FAILED')
    expect(tested.status).toBe(0)
  }, 180_000)
})

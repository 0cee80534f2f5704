// A Prometheus of the game day's own, with the real rules in shortened time: it alone says whether an alert fires.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { access, constants, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { freePort } from '@baton/embedded'
import { transient } from '@baton/runtime'
import { alertingGroups, fasterBy, recordingGroups } from '@baton/telemetry'
import type { RuleGroup } from '@baton/telemetry'
import { setTimeout as delay } from 'node:timers/promises'
import type { LoweredLimit } from './game-day.ts'
import type { Target } from './read-metrics.ts'

/** Says which alerts fire. */
export interface Judge {
  /** Their names. Throws where it does not answer. */
  firing(): Promise<ReadonlySet<string>>
  stop(): Promise<void>
}

interface JudgeOptions {
  readonly program: string
  /** Its configuration, rules, data and log go there. */
  readonly folder: string
  readonly targets: readonly Target[]
  readonly timesFaster: number
  readonly lowered: LoweredLimit | undefined
}

const READY_MAX_MS = 20_000
const POLL_MS = 100
const STOP_MAX_MS = 5_000

/** The first `prometheus` of PATH, or undefined. */
export async function findPrometheus(path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter((part) => part !== '')) {
    const program = join(folder, 'prometheus')
    const found = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return program
  }
  return undefined
}

/** Resolves when it answers. Throws BATON_GAMEDAY_PROMETHEUS_FAILED, with nothing left running. */
export async function startJudge(options: JudgeOptions): Promise<Judge> {
  const { program, folder } = options
  await mkdir(folder, { recursive: true })
  await writeConfiguration(options)
  const port = await freePort()
  const child = spawn(program, argumentsOf(folder, port), { stdio: ['ignore', 'pipe', 'pipe'] })
  const log = createWriteStream(join(folder, 'prometheus.log'))
  child.stdout?.pipe(log, { end: false })
  child.stderr?.pipe(log, { end: false })
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const stop = async () => {
    await end(child)
    process.off('exit', endWithUs)
    log.end()
  }
  const url = `http://127.0.0.1:${port}`
  try {
    await untilReady(child, url)
    return { firing: () => firingAt(url), stop }
  } catch (cause) {
    await stop()
    throw transient('BATON_GAMEDAY_PROMETHEUS_FAILED', 'Prometheus did not start', {
      cause,
      fix: `Run \`${program} --version\`; Prometheus 2.42 or newer is needed.`,
    })
  }
}

const argumentsOf = (folder: string, port: number): readonly string[] => [
  `--config.file=${join(folder, 'prometheus.json')}`,
  `--storage.tsdb.path=${join(folder, 'data')}`,
  `--web.listen-address=127.0.0.1:${port}`,
  '--log.level=warn',
]

/** Of a group of rules, with the limit of one alert divided. */
export const withLowered =
  (lowered: LoweredLimit | undefined) =>
  (group: RuleGroup): RuleGroup => ({
    ...group,
    rules: group.rules.map((rule) => {
      if (lowered === undefined || !('alert' in rule) || rule.alert !== lowered.alert) return rule
      const { limit, dividedBy } = lowered
      const expr = rule.expr.replace(`> ${limit}`, `> ${limit / dividedBy}`)
      if (expr === rule.expr) throw new Error(`${rule.alert} has no limit of ${limit}`)
      return { ...rule, expr }
    }),
  })

/** JSON is YAML too. */
async function writeConfiguration({
  folder,
  targets,
  timesFaster,
  lowered,
}: JudgeOptions): Promise<void> {
  const span = fasterBy(timesFaster)
  const alerting = alertingGroups('infra/runbooks', span).map(withLowered(lowered))
  const rules = { groups: [...recordingGroups(span), ...alerting] }
  const configuration = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.json'],
    scrape_configs: targets.map(({ job, url, key }) => ({
      job_name: job,
      static_configs: [{ targets: [new URL(url).host] }],
      ...(key !== undefined && { authorization: { credentials: key } }),
    })),
  }
  await writeFile(join(folder, 'rules.json'), JSON.stringify(rules))
  await writeFile(join(folder, 'prometheus.json'), JSON.stringify(configuration), { mode: 0o600 })
}

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = performance.now() + READY_MAX_MS
  while (performance.now() < deadline && child.exitCode === null) {
    const answer = await fetch(`${url}/-/ready`).catch(() => undefined)
    if (answer?.ok === true) return
    await delay(POLL_MS)
  }
  throw new Error('it did not say that it is ready')
}

interface AlertsAnswer {
  readonly data: {
    readonly alerts: readonly { labels: Readonly<Record<string, string>>; state: string }[]
  }
}

async function firingAt(url: string): Promise<ReadonlySet<string>> {
  const answer = await fetch(`${url}/api/v1/alerts`)
  const { data } = (await answer.json()) as AlertsAnswer
  const firing = data.alerts.filter(({ state }) => state === 'firing')
  return new Set(firing.map(({ labels }) => labels['alertname'] ?? ''))
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS)
  await closed
  clearTimeout(timer)
}

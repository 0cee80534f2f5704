// Writes what monitors Baton from the one definition in packages/telemetry: rules, their tests, dashboards, examples and
// tables; with --check it only says whether they are up to date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { alertingGroups, recordingGroups } from '@baton/telemetry'
import { stringify } from 'yaml'
import { alertsPage } from './monitoring/alerts-page.ts'
import { alertmanager } from './monitoring/alertmanager.ts'
import { BOARDS } from './monitoring/dashboards/boards.ts'
import { toGrafana } from './monitoring/dashboards/grafana.ts'
import { ruleTests } from './monitoring/rule-tests.ts'

const ROOT = fileURLToPath(new URL('.', import.meta.url))

/** Where runbooks are found: an external label of Prometheus says it, as the gateway's address is nobody else's. */
const RUNBOOKS = '{{ with $externalLabels.runbooks }}{{ . }}{{ else }}infra/runbooks{{ end }}'

const written = 'Written by infra/generate-monitoring.ts from packages/telemetry; do not edit.'

const yaml = (document: object): string =>
  `# ${written}\n${stringify(document, { lineWidth: 0, singleQuote: true })}`

const tests = ruleTests(
  ['recording-rules.yml', 'alerting-rules.yml'],
  [...recordingGroups(), ...alertingGroups(RUNBOOKS)].map(({ name }) => name),
)

const recordingRules = () => yaml({ groups: recordingGroups() })
const alertingRules = () => yaml({ groups: alertingGroups(RUNBOOKS) })

const FILES: Readonly<Record<string, () => string>> = {
  'prometheus/recording-rules.yml': recordingRules,
  'prometheus/alerting-rules.yml': alertingRules,
  // A chart can read files of its own folder alone.
  'kubernetes/baton/rules/recording-rules.yml': recordingRules,
  'kubernetes/baton/rules/alerting-rules.yml': alertingRules,
  'prometheus/rule-tests.yml': () => yaml(tests.minute),
  'prometheus/rule-tests-hours.yml': () => yaml(tests.hours),
  'alertmanager/alertmanager.yml': () => yaml(alertmanager()),
  'alerts.md': () => alertsPage(written),
  ...Object.fromEntries(
    BOARDS.map((board) => [
      `grafana/dashboards/${board.uid}.json`,
      () => `${JSON.stringify(toGrafana(board), null, 2)}\n`,
    ]),
  ),
}

const isCheck = process.argv.includes('--check')
const stale = Object.entries(FILES).filter(([file, content]) => {
  const target = join(ROOT, file)
  const text = content()
  if (text === read(target)) return false
  if (!isCheck) {
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
  }
  return true
})
if (isCheck && stale.length > 0) {
  process.stderr.write(`not up to date: ${stale.map(([file]) => `infra/${file}`).join(', ')}\n`)
  process.exitCode = 1
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

// Writes metrics.md from the catalogue of metrics; with --check it only says whether it is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { LATENCY_EDGES_SECONDS, METRIC_DEFINITIONS } from '@baton/telemetry'
import { markdownTable } from './markdown-table.ts'
import type { MetricDefinition } from '@baton/telemetry'

const TARGET = fileURLToPath(new URL('metrics.md', import.meta.url))

const INTRODUCTION = `# Metrics

Every process exposes all of them; the last column says who fills them. The others show 0, or nothing where a gauge has labels, so use
\`sum\` over counters and \`max\` over gauges. Times are in seconds, in histograms whose bucket edges are ${LATENCY_EDGES_SECONDS.join(', ')}.
Beyond 1,000 label sets of one metric the labels whose values others choose (agent types, reasons) are \`other\`. Each process also exposes \`process_…\` and \`nodejs_…\`: its processor time,
memory, file descriptors, event loop and garbage collection. A gateway that gives work to agents outside is a receiver as well, and fills what receivers
fill. Which alerts rest on which metric is in [alerts.md](alerts.md).

This file is written by \`node infra/generate-metrics.ts\` from \`packages/telemetry\`; do not edit it.`

const HEADINGS = ['metric', 'kind', 'labels', 'meaning', 'filled by']

function row({ name, kind, labels, values, help, filledBy }: MetricDefinition): readonly string[] {
  const of = values === undefined ? '' : `: ${values.map((value) => `\`${value}\``).join(', ')}`
  return [`\`${name}\``, kind, labels.map((l) => `\`${l}\``).join(', ') + of, help, filledBy]
}

function readTarget(): string {
  try {
    return readFileSync(TARGET, 'utf8')
  } catch {
    return ''
  }
}

const check = process.argv.includes('--check')
const wanted = `${INTRODUCTION}\n\n${markdownTable(HEADINGS, Object.values(METRIC_DEFINITIONS).map(row))}\n`
if (wanted !== readTarget()) {
  process.stderr.write(`${check ? 'out of date' : 'written'}: infra/metrics.md\n`)
  if (check) process.exitCode = 1
  else writeFileSync(TARGET, wanted)
}

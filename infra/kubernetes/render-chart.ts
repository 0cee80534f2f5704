// Renders the chart with Helm itself, and answers the objects of a release as Kubernetes would get them.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'

const CHART = fileURLToPath(new URL('baton', import.meta.url))

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  // What is in it depends on its kind; tests read what they ask about.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly spec: any
}

/** Throws what Helm says where it refuses the values. */
export function renderChart(helm: string, args: readonly string[]): readonly KubernetesObject[] {
  const { status, stdout, stderr } = spawnSync(
    helm,
    ['template', 'baton', CHART, '--namespace', 'baton', ...args],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stderr)
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null)
}

export function lintChart(helm: string): string {
  const { status, stdout, stderr } = spawnSync(helm, ['lint', '--strict', CHART], {
    encoding: 'utf8',
  })
  return status === 0 ? '' : stdout + stderr
}

// What is brought up beside Baton listens on loopback alone, is of one version, and finds the files that it is given.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const INFRA = join(import.meta.dirname, '..')
const read = (path: string): unknown =>
  parse(readFileSync(join(INFRA, path), 'utf8'), { merge: true })

interface Container {
  readonly image: string
  readonly network_mode: string
  readonly ports?: unknown
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly (string | { readonly source: string })[]
}
interface Compose {
  readonly services: Readonly<Record<string, Container>>
}
interface Sources {
  readonly datasources: readonly {
    readonly uid: string
    readonly url: string
    readonly jsonData?: {
      readonly exemplarTraceIdDestinations?: readonly { datasourceUid: string }[]
    }
  }[]
}

const { services } = read('monitoring/compose.yaml') as Compose

describe.each(Object.entries(services))('the container %s', (_, container) => {
  it('is of a version that is named', () => {
    expect(container.image).toMatch(/^[a-z]+\/[a-z]+:v?\d+\.\d+\.\d+$/)
  })

  it('listens on loopback alone, in the network of the host', () => {
    const { network_mode: network, ports, command = [], environment = {} } = container
    expect([network, ports]).toEqual(['host', undefined])
    const listens = [...command, ...Object.entries(environment).map((pair) => pair.join('='))]
      .filter((word) => /listen-address|HTTP_ADDR|LISTEN_HOST/.test(word))
      .map((word) => word.slice(word.indexOf('=') + 1))
    expect(listens.filter((address) => address !== '')).not.toEqual([])
    for (const address of listens) expect(address).toMatch(/^(127\.0\.0\.1(:\d+)?)?$/)
  })

  it('is given files that there are', () => {
    const sources = (container.volumes ?? []).flatMap((volume) =>
      typeof volume === 'string' && volume.startsWith('.') ? [volume.split(':', 1)[0] ?? ''] : [],
    )
    for (const source of sources)
      expect([source, existsSync(join(INFRA, 'monitoring', source))]).toEqual([source, true])
  })
})

it('an exemplar opens its trace where the containers listen', () => {
  const { datasources } = read('grafana/provisioning/datasources/baton.yaml') as Sources
  const uids = datasources.map(({ uid }) => uid)
  const destinations = datasources.flatMap(
    ({ jsonData }) => jsonData?.exemplarTraceIdDestinations ?? [],
  )
  expect(destinations).toHaveLength(1)
  for (const { datasourceUid } of destinations) expect(uids).toContain(datasourceUid)
  for (const { url } of datasources) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
})

it('the collector keeps traces by attributes that spans have', () => {
  const collector = readFileSync(join(INFRA, 'opentelemetry/collector.yaml'), 'utf8')
  const page = readFileSync(join(INFRA, 'opentelemetry.md'), 'utf8')
  const names = new Set(collector.match(/baton\.[a-z.]+[a-z]/g))
  expect([...names].toSorted()).toEqual([
    'baton.handoff.reason',
    'baton.handoff.state',
    'baton.hop',
    'baton.queue.seconds',
  ])
  for (const name of names) expect(page).toContain(`\`${name}\``)
  expect(read('opentelemetry/collector.yaml')).toMatchObject({
    receivers: { otlp: { protocols: { http: { endpoint: '127.0.0.1:4318' } } } },
  })
})

it('receivers are scaled by the metric of an age, which there is', () => {
  const keda = readFileSync(join(INFRA, 'kubernetes/keda.yaml'), 'utf8')
  const [, metric = ''] = /query: max\((baton_[a-z_]+)\{agent=/.exec(keda) ?? []
  const metrics = readFileSync(join(INFRA, 'metrics.md'), 'utf8')
  expect(metrics).toContain(`\`${metric}\``)
})

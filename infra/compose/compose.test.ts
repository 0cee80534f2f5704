// All of Baton in containers stays locked down, has every process and every file that it names, and is given no secret that somebody could know.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../setup-step.mjs'

interface Container {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly networks?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly pids_limit?: number
  readonly mem_limit?: string
  readonly restart?: string
  readonly user?: string
  readonly profiles?: readonly string[]
}
interface Compose {
  readonly services: Readonly<Record<string, Container>>
  readonly networks: { readonly inside: { readonly internal: boolean } }
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const compose = read('docker-compose.yml')
const { services, networks } = parse(compose, { merge: true }) as Compose
const containers = Object.entries(services)
const own = containers.filter(([, { image }]) => image.includes('BATON_IMAGE'))
const processes = readdirSync(join(ROOT, 'services'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  // One is started by the program that it serves; the other is the command line.
  .filter((name) => name !== 'sender' && name !== 'cli')

/** Where `init` counts from, unless it is told otherwise. */
const FIRST_PORT = 8_420

const toldTo = ({ volumes = [] }: Container): readonly string[] =>
  volumes.filter((volume) => /^(?:told-|installation)/.test(volume))

describe.each(containers)('the container %s', (name, container) => {
  it('can change nothing but what it keeps, and has bounds', () => {
    expect(container).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      pids_limit: 256,
    })
    expect(container.mem_limit).toMatch(/\d[mg]\}?$/)
    expect(['unless-stopped', 'no']).toContain(container.restart)
  })

  it('is reached on loopback alone', () => {
    for (const port of container.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/)
  })

  it('is of an image by its digest, or of this repository', () => {
    const [, image = container.image] = /^\$\{\w+:-(.*)\}$/.exec(container.image) ?? []
    expect(image).toMatch(/^(?:baton:0\.1\.0|[a-z-/]+:v?[\d.]+(?:-alpine)?@sha256:[0-9a-f]{64})$/)
  })

  it('is given files that there are', () => {
    const sources = (container.volumes ?? []).map((volume) => volume.split(':')[0] ?? '')
    const missing = sources.filter(
      (source) => source.startsWith('./') && !existsSync(join(ROOT, source)),
    )
    expect([name, missing]).toEqual([name, []])
  })
})

it('has every process, each with what it is told and nothing of any other', () => {
  for (const name of processes) {
    const container = services[name]
    expect([name, container?.command, toldTo(container ?? { image: '' })]).toEqual([
      name,
      [name],
      [`told-${name}:/etc/baton:ro`],
    ])
  }
})

it('shows everything that was made to nobody but who makes it and who administers', () => {
  const all = containers.filter(([, one]) =>
    toldTo(one).some((volume) => volume.startsWith('installation')),
  )
  expect(all.map(([name]) => name).toSorted()).toEqual(['admin', 'init', 'prepare'])
})

it('holds no secret, and no way to be given a usual one', () => {
  const words = compose.replaceAll(/^\s*#.*$/gm, '')
  expect(words.match(/\w*(?:PASSWORD|TOKEN|SECRET)\w*/g)).toEqual(['POSTGRES_PASSWORD_FILE'])
  for (const [, { environment = {} }] of own)
    for (const name of Object.keys(environment)) expect(name).not.toMatch(/KEY|PASSWORD|TOKEN/)
})

it('lets nobody out but those who call others or are called', () => {
  expect(networks.inside.internal).toBe(true)
  const outside = containers.filter(([, one]) => one.networks?.includes('outside'))
  expect(outside.map(([name]) => name).toSorted()).toEqual([
    'alertmanager',
    'gateway',
    'grafana',
    'prometheus',
    'receiver',
    'traces',
  ])
})

it('starts the databases that are for developing, too', () => {
  const { services: developing } = parse(read('infra/compose/development.yaml')) as Compose
  for (const [name, { image }] of Object.entries(developing))
    expect(services[name]?.image).toContain(image)
})

it('has Prometheus ask each process where init lets it answer', () => {
  const settings = read('services/cli/src/installation/process-settings.ts')
  const [, table = ''] = /const OPS_PORTS = \{([^}]*)\}/.exec(settings) ?? []
  const ports = [...table.matchAll(/(\w+): (\d+)/g)].map(
    ([, name, offset]) => `${name}:${FIRST_PORT + Number(offset)}`,
  )
  expect(ports.length).toBeGreaterThan(5)
  const asked = read('infra/compose/prometheus.yml').match(/\b[a-z]+:84\d\d\b/g) ?? []
  expect(asked.toSorted()).toEqual(ports.toSorted())
})

it('changes of the collector only where it listens and whom it tells', () => {
  const kept = parse(read('infra/opentelemetry/collector.yaml')) as Record<string, object>
  const changed = parse(read('infra/compose/collector.yaml')) as Record<string, object>
  expect(Object.keys(changed)).toEqual(['receivers', 'exporters'])
  for (const [part, value] of Object.entries(changed))
    for (const name of Object.keys(value)) expect(kept[part]).toHaveProperty([name])
})

it('has Grafana show what it shows beside an embedded instance', () => {
  const sources = (path: string) =>
    (
      parse(read(path)) as { datasources: readonly { uid: string; type: string }[] }
    ).datasources.map(({ uid, type }) => [uid, type])
  expect(sources('infra/compose/grafana-sources.yaml')).toEqual(
    sources('infra/grafana/provisioning/datasources/baton.yaml'),
  )
})

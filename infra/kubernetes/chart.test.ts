// The chart as Helm renders it: what Kubernetes takes, and what every pod of it keeps to.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { ROOT } from '../setup-step.mjs'
import { findHelm } from './fetch-helm.ts'
import { lintChart, renderChart } from './render-chart.ts'
import type { KubernetesObject } from './render-chart.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const helm = await findHelm()
const example = (name: string) => ['--values', join(HERE, 'examples', `${name}.yaml`)]

/** Which package knows each kind, and where in it. */
const MODULES: Readonly<Record<string, string>> = {
  v1: 'kubernetes-models/v1',
  'apps/v1': 'kubernetes-models/apps/v1',
  'batch/v1': 'kubernetes-models/batch/v1',
  'autoscaling/v2': 'kubernetes-models/autoscaling/v2',
  'policy/v1': 'kubernetes-models/policy/v1',
  'networking.k8s.io/v1': 'kubernetes-models/networking.k8s.io/v1',
  'keda.sh/v1alpha1': '@kubernetes-models/keda/keda.sh/v1alpha1',
  'cert-manager.io/v1': '@kubernetes-models/cert-manager/cert-manager.io/v1',
  'external-secrets.io/v1': '@kubernetes-models/external-secrets/external-secrets.io/v1',
  'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
}

interface Pod {
  readonly of: KubernetesObject
  readonly labels: Readonly<Record<string, string>>
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly spec: any
}

/** Pods of Baton, not of the bundled servers. */
function podsOf(objects: readonly KubernetesObject[]): readonly Pod[] {
  return objects.flatMap((of) => {
    if (of.kind === 'Pod') return [{ of, labels: of.metadata.labels ?? {}, spec: of.spec }]
    const template = of.spec?.template
    if (template?.spec?.containers === undefined) return []
    return [{ of, labels: template.metadata.labels, spec: template.spec }]
  })
}

const componentOf = ({ labels }: Pod): string => labels['app.kubernetes.io/component'] ?? ''
const isServer = (pod: Pod): boolean => ['postgres', 'redis'].includes(componentOf(pod))
const isForever = ({ of }: Pod): boolean => of.kind === 'Deployment' || of.kind === 'StatefulSet'

const named = (objects: readonly KubernetesObject[], kind: string, name: string) => {
  const found = objects.find((one) => one.kind === kind && one.metadata.name === name)
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
  return found
}

describe.skipIf(helm === undefined)(
  'the chart (needs helm: none is on PATH, and npm has none for this machine or does not answer)',
  () => {
    const render = (...args: string[]) => renderChart(helm ?? '', args)
    const usual = render()
    const production = render(...example('production'))
    const trying = render(...example('trying'))
    const RELEASES = { usual, production, trying }

    it('is in order for helm lint', () => {
      expect(lintChart(helm ?? '')).toBe('')
    })

    it.each(Object.entries(RELEASES))('makes objects that Kubernetes takes: %s', async (_, all) => {
      for (const object of all) {
        const specifier = MODULES[object.apiVersion]
        const kinds = (await import(specifier ?? '')) as Record<
          string,
          new (data: object) => { validate(): void }
        >
        const Kind = kinds[object.kind]
        if (Kind === undefined) throw new Error(`no ${object.kind} in ${specifier}`)
        expect(() => new Kind(object).validate()).not.toThrow()
      }
    })

    it('has no field that Kubernetes would drop or refuse', () => {
      expect(typeErrors(Object.values(RELEASES).flat())).toBe('')
      const [first] = usual.filter(({ kind }) => kind === 'Deployment')
      const misspelt = { ...first, spec: { ...first?.spec, replica: 2 } } as KubernetesObject
      expect(typeErrors([misspelt])).toContain(`'"replica"' does not exist`)
    }, 60_000)

    it('has each name once', () => {
      for (const all of Object.values(RELEASES)) {
        const names = all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
        expect(new Set(names).size).toBe(names.length)
      }
    })

    it('refuses what its schema does not know', () => {
      expect(() => render('--set', 'gatewy.replicas=2')).toThrow("'gatewy' not allowed")
      expect(() => render('--set', 'gateway.settings.BATON_SIGNING_KEYS=k1')).toThrow(
        'BATON_SIGNING_KEYS',
      )
      expect(() => render('--set', 'settings.BATON_DATABASE_URL=postgres://x')).toThrow(
        'BATON_DATABASE_URL',
      )
      expect(() => render('--set', 'gateway.settings.BATON_GATEWAY_RATE_MAX=1000000')).toThrow(
        'got number, want string',
      )
      expect(() => render('--set', 'relay.resources.limits=null')).toThrow('limits')
      expect(() => render('--set', 'secrets.external.enabled=true')).toThrow(
        'secrets.external.store.name',
      )
      expect(() => render('--set', 'keda.enabled=true,receivers.a.agents=./a.ts')).toThrow(
        'receivers.a.agentTypes',
      )
    })

    it.each(Object.entries(RELEASES))('lets no pod do more than it must: %s', (_, all) => {
      for (const pod of podsOf(all)) {
        const { spec } = pod
        expect(spec.automountServiceAccountToken).toBe(false)
        expect(spec.enableServiceLinks).toBe(false)
        expect(spec.securityContext).toMatchObject({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        })
        expect(spec.securityContext.runAsUser).toBeGreaterThan(0)
        expect(spec.hostNetwork ?? spec.hostPID ?? spec.hostIPC).toBeUndefined()
        for (const container of spec.containers) {
          expect(container.securityContext).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          })
          expect(container.resources.limits.memory).toBeDefined()
          expect(container.resources.requests).toMatchObject({
            cpu: expect.anything(),
            memory: expect.anything(),
          })
          for (const port of container.ports ?? []) expect(port.hostPort).toBeUndefined()
        }
        for (const volume of spec.volumes) expect(volume.hostPath).toBeUndefined()
      }
    })

    it.each(Object.entries(RELEASES))('asks every process how it is: %s', (_, all) => {
      for (const pod of podsOf(all).filter(isForever)) {
        const [container] = pod.spec.containers
        expect(container).toMatchObject({
          startupProbe: expect.anything(),
          readinessProbe: expect.anything(),
          livenessProbe: expect.anything(),
        })
        const { livenessProbe, readinessProbe } = container
        if (livenessProbe.httpGet === undefined) continue
        expect([livenessProbe.httpGet.path, readinessProbe.httpGet.path]).toEqual([
          '/healthz',
          '/readyz',
        ])
        expect(livenessProbe.periodSeconds * livenessProbe.failureThreshold).toBeGreaterThan(30)
      }
    })

    it('gives every process longer to end than it takes', () => {
      for (const pod of podsOf(production).filter((one) => isForever(one) && !isServer(one))) {
        const drain = Number(environmentOf(pod)['BATON_DRAIN_MS']) / 1_000
        // Five seconds before it, five after it.
        expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drain + 15)
      }
      const review = named(production, 'Deployment', 'baton-receiver-review')
      expect(review.spec.template.spec.terminationGracePeriodSeconds).toBe(140)
    })

    it.each(Object.entries(RELEASES))('gives no process the secrets of another: %s', (_, all) => {
      for (const pod of podsOf(all).filter((one) => !isServer(one))) {
        const process = pod.spec.containers[0].name
        expect(secretsOf(pod)).toEqual([
          'baton-' + process,
          ...(hasTls(pod) ? [`baton-${process}-tls`] : []),
          ...filesOf(pod),
        ])
        for (const container of pod.spec.containers) {
          expect(container.envFrom).toBeUndefined()
          for (const variable of container.env) expect(variable.valueFrom).toBeUndefined()
        }
        const modes = pod.spec.volumes.map(
          (volume: Volume) => (volume.secret ?? volume.projected)?.defaultMode ?? 0o440,
        )
        expect(new Set(modes)).toEqual(new Set([0o440]))
      }
    })

    it('tells each process only settings that it has', () => {
      for (const all of [production, trying]) {
        for (const pod of podsOf(all).filter((one) => isForever(one) && !isServer(one))) {
          const known = settingsOf(pod.spec.containers[0].name)
          const told = Object.keys(environmentOf(pod)).map((name) =>
            name.replace(/(?<!_(?:TLS_(?:CA|CERT|KEY)|STATE|ANCHOR))_FILE$/, ''),
          )
          const strange = told.filter((name) => name.startsWith('BATON_') && !known.has(name))
          const ofAgents = ['BATON_LLM_BASE_URL', 'BATON_LLM_API_KEY']
          expect(strange.filter((name) => !ofAgents.includes(name))).toEqual([])
        }
      }
    })

    it('runs one auditor, one sealer, one archiver and one witness, and never two', () => {
      for (const name of ['auditor', 'archiver']) {
        const { spec } = named(production, 'Deployment', `baton-${name}`)
        expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
      }
      for (const name of ['sealer', 'witness']) {
        const { spec } = named(production, 'StatefulSet', `baton-${name}`)
        expect(spec).toMatchObject({
          replicas: 1,
          persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
        })
      }
    })

    it('lets a second sealer stand by, with a volume of its own and on another node', () => {
      const sealerOf = (...args: string[]) => {
        const all = render(...example('production'), ...args)
        const set = named(all, 'StatefulSet', 'baton-sealer')
        const pod = podsOf([set])[0]
        return { set, environment: environmentOf(pod as Pod), pod: pod?.spec }
      }
      const two = sealerOf('--set', 'sealer.replicas=2')
      expect(two.set.spec).toMatchObject({ replicas: 2 })
      expect(two.set.spec?.volumeClaimTemplates).toHaveLength(1)
      expect(two.environment).toMatchObject({ BATON_SEALER_STANDBY: '1' })
      expect(two.pod?.topologySpreadConstraints).toHaveLength(2)
      expect(sealerOf().environment).not.toHaveProperty('BATON_SEALER_STANDBY')
      expect(() => sealerOf('--set', 'sealer.replicas=4')).toThrow('/sealer/replicas')
    })

    it('migrates before anything of the new version starts, with what that needs made before it', () => {
      const hooks = production
        .filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']?.includes('pre-upgrade'))
        .map(({ kind, metadata }) => ({
          kind,
          name: metadata.name,
          weight: Number(metadata.annotations?.['helm.sh/hook-weight']),
        }))
      const job = hooks.find(({ kind }) => kind === 'Job')
      expect(job?.name).toBe('baton-migrate')
      const before = hooks.filter(({ weight }) => weight < (job?.weight ?? 0))
      expect(before.map(({ kind, name }) => `${kind} ${name}`).toSorted()).toEqual([
        'Certificate baton-authority',
        'Certificate baton-migrate-tls',
        'ExternalSecret baton-migrate',
        'Issuer baton-authority',
        'Issuer baton-self-signed',
        'NetworkPolicy baton-migrate',
        'ServiceAccount baton-migrate',
      ])
    })

    it.each(Object.entries(RELEASES))(
      'selects with every service, budget and policy pods that there are: %s',
      (_, all) => {
        const pods = podsOf(all)
        const empty = all.filter((object) => {
          const selector = selectorOf(object)
          return selector !== undefined && !pods.some(({ labels }) => isPartOf(selector, labels))
        })
        expect(empty.map(({ metadata }) => metadata.name)).toEqual([])
      },
    )

    it('scales deployments that there are', () => {
      const deployments = production.filter(({ kind }) => kind === 'Deployment')
      const scaled = production.flatMap(({ spec }) => spec?.scaleTargetRef?.name ?? [])
      expect(scaled).toHaveLength(3)
      expect(deployments.map(({ metadata }) => metadata.name)).toEqual(
        expect.arrayContaining(scaled),
      )
    })

    it('lets each process call what it needs, and nothing else of Baton', () => {
      const processes = podsOf(production).map(componentOf)
      const calls = [...new Set(processes)]
        .toSorted()
        .flatMap((from) =>
          ['gateway', 'auditor', 'witness', 'receiver-review', 'receiver-intake', 'relay', 'sealer']
            .filter((to) => from !== to && mayCall(production, { from, to }))
            .map((to) => `${from} -> ${to}`),
        )
      expect(calls).toEqual([
        'archiver -> auditor',
        'auditor -> witness',
        'gateway -> auditor',
        'gateway -> receiver-review',
        'gateway -> receiver-intake',
        'migrate -> auditor',
        'operator -> gateway',
        'operator -> auditor',
        'operator -> witness',
        'receiver-intake -> auditor',
        'receiver-review -> auditor',
        'relay -> auditor',
        'sealer -> witness',
      ])
    })

    it('lets each process reach the databases that it needs alone', () => {
      const DATABASES = {
        '10.20.0.0/28': 'postgres',
        '10.20.1.0/28': 'audit',
        '10.20.2.0/28': 'redis',
        '10.20.3.0/28': 'sentinels',
      }
      const reached = [...new Set(podsOf(production).map(componentOf))]
        .toSorted()
        .map((process) => {
          const { spec } = named(production, 'NetworkPolicy', `baton-${process}`)
          const blocks = spec.egress.flatMap((rule: Rule) =>
            (rule.to ?? []).flatMap(({ ipBlock }) => (ipBlock === undefined ? [] : [ipBlock.cidr])),
          )
          return [
            process,
            ...blocks.flatMap((cidr: keyof typeof DATABASES) => DATABASES[cidr] ?? []),
          ].join(' ')
        })
      expect(reached).toEqual([
        'archiver audit',
        'auditor audit',
        'gateway postgres',
        'migrate postgres audit',
        'operator postgres audit redis sentinels',
        'receiver-intake postgres redis sentinels',
        'receiver-review postgres redis sentinels',
        'relay postgres redis sentinels',
        'sealer audit',
        'witness',
      ])
      const denied = named(production, 'NetworkPolicy', 'baton-default-deny').spec
      expect(denied).toMatchObject({ policyTypes: ['Ingress', 'Egress'] })
      expect(denied.ingress ?? denied.egress).toBeUndefined()
    })

    it('scales receivers as infra/kubernetes/keda.yaml does', () => {
      const documents = parseAllDocuments(readFileSync(join(HERE, 'keda.yaml'), 'utf8'))
      const [example] = documents.map((document) => document.toJS() as KubernetesObject)
      const { spec } = named(production, 'ScaledObject', 'baton-receiver-intake')
      expect(spec).toEqual({ ...example?.spec, maxReplicaCount: 4 })
    })

    it('leaves the number of replicas to whoever scales', () => {
      for (const name of ['gateway', 'receiver-review', 'receiver-intake'])
        expect(named(production, 'Deployment', `baton-${name}`).spec.replicas).toBeUndefined()
      expect(named(production, 'Deployment', 'baton-relay').spec.replicas).toBe(2)
    })

    it('has the rules of infra/prometheus', () => {
      const { spec } = named(production, 'PrometheusRule', 'baton')
      const groups = ['recording-rules.yml', 'alerting-rules.yml'].flatMap(
        (file) => parse(readFileSync(join(HERE, '../prometheus', file), 'utf8')).groups,
      )
      expect(spec.groups).toEqual(groups)
    })

    it('says connections to be plain only where that was chosen', () => {
      const plain = render('--set', 'tls.mode=none')
      for (const pod of podsOf(plain)) expect(environmentOf(pod)['BATON_ALLOW_PLAINTEXT']).toBe('1')
      for (const pod of podsOf(production))
        expect(environmentOf(pod)['BATON_ALLOW_PLAINTEXT']).toBeUndefined()
    })
  },
)

interface Rule {
  readonly ports: readonly { readonly port: number }[]
  readonly to?: readonly Peer[]
  readonly from?: readonly Peer[]
}

interface Peer {
  readonly ipBlock?: { readonly cidr: string }
  readonly podSelector?: {
    readonly matchExpressions: readonly { readonly values: readonly string[] }[]
  }
}

const names = (peers: readonly Peer[] | undefined): readonly string[] =>
  (peers ?? []).flatMap(({ podSelector }) =>
    (podSelector?.matchExpressions ?? []).flatMap(({ values }) => values),
  )

/** Both ends have to allow it, at one port. */
function mayCall(
  all: readonly KubernetesObject[],
  { from, to }: { readonly from: string; readonly to: string },
): boolean {
  const egress: readonly Rule[] = named(all, 'NetworkPolicy', `baton-${from}`).spec.egress
  const ingress: readonly Rule[] = named(all, 'NetworkPolicy', `baton-${to}`).spec.ingress
  const out = egress.filter((rule) => names(rule.to).includes(to)).map(portOf)
  return ingress.some((rule) => names(rule.from).includes(from) && out.includes(portOf(rule)))
}

type Labels = Readonly<Record<string, string>>

/** Which pods an object is about. */
function selectorOf({ kind, spec }: KubernetesObject): Labels | undefined {
  if (kind === 'Service') return spec.selector
  if (kind === 'PodDisruptionBudget') return spec.selector.matchLabels
  return kind === 'NetworkPolicy' ? spec.podSelector.matchLabels : undefined
}

const isPartOf = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value)

const portOf = ({ ports }: Rule): number | undefined => ports[0]?.port

function environmentOf({ spec }: Pod): Readonly<Record<string, string>> {
  const variables: readonly { readonly name: string; readonly value: string }[] =
    spec.containers[0].env ?? []
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]))
}

function secretsOf({ spec }: Pod): readonly string[] {
  return spec.volumes.flatMap((volume: Volume) => [
    ...(volume.secret === undefined ? [] : [volume.secret.secretName]),
    ...(volume.projected?.sources ?? []).map(({ secret }) => secret.name),
  ])
}

interface Volume {
  readonly secret?: { readonly secretName: string; readonly defaultMode: number }
  readonly projected?: {
    readonly defaultMode: number
    readonly sources: readonly { readonly secret: { readonly name: string } }[]
  }
}

const hasTls = ({ spec }: Pod): boolean =>
  spec.volumes.some(({ name }: { readonly name: string }) => name === 'tls')

/** Those that its values name by themselves. */
const filesOf = (pod: Pod): readonly string[] =>
  componentOf(pod) === 'receiver-review' ? ['llm'] : []

/** What infra/settings.md lists for a process. */
function settingsOf(process: string): ReadonlySet<string> {
  const page = readFileSync(join(HERE, '../settings.md'), 'utf8')
  const [, section = ''] = page.split(`\n## ${process}\n`)
  const [own = ''] = section.split('\n## ')
  return new Set([...own.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name))
}

/** What TypeScript says of the objects as literals of their types: it refuses fields that a type does not have. */
function typeErrors(objects: readonly KubernetesObject[]): string {
  const scratch = join(ROOT, 'infra/node_modules/.chart')
  mkdirSync(scratch, { recursive: true })
  const folder = mkdtempSync(join(scratch, 'types-'))
  try {
    const kinds = new Map(
      objects.map(({ apiVersion, kind }) => [`${apiVersion} ${kind}`, MODULES[apiVersion]]),
    )
    const alias = (of: string) => of.replaceAll(/\W/g, '_')
    const imports = [...kinds].map(
      ([of, specifier]) =>
        `import type { I${of.split(' ')[1]} as ${alias(of)} } from '${specifier}'`,
    )
    const literals = objects.map(
      (object, index) =>
        `export const o${index}: ${alias(`${object.apiVersion} ${object.kind}`)} = ${JSON.stringify(object)}`,
    )
    writeFileSync(join(folder, 'objects.ts'), [...imports, ...literals].join('\n'))
    const options = [
      '--noEmit',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--types',
      '',
      '--ignoreConfig',
    ]
    const tsc = join(ROOT, 'node_modules/.bin/tsc')
    return spawnSync(tsc, [...options, join(folder, 'objects.ts')], { encoding: 'utf8' }).stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

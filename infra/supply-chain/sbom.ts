// The bill of materials: what pnpm knows of the packages, with the tools that set-up fetches beside them.
import { pinnedNode, pinnedPnpms } from '../pinned-tools.mjs'
import type { PinnedTool } from '../fetch-tools.mjs'

interface Bom {
  readonly components: readonly object[]
}

/** `text` is a CycloneDX document as pnpm writes it. */
export function withTools(text: string, host: string): string {
  const bom = JSON.parse(text) as Bom
  const tools = [pinnedNode(host), ...pinnedPnpms(host).slice(0, 1)].filter(
    (tool) => tool !== undefined,
  )
  return JSON.stringify(
    { ...bom, components: [...bom.components, ...tools.map(componentOf)] },
    null,
    2,
  )
}

function componentOf({ name, version, integrity }: PinnedTool) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
  const hashes = [{ alg: 'SHA-512', content }]
  return { type: 'application', name, version, purl, 'bom-ref': purl, hashes }
}

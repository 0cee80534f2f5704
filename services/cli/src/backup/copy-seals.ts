// What stands outside the databases of the sealer and its watchers: the state file first, then what may only be ahead of it.
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../context.ts'
import { sealFiles } from '../instance/seal-files.ts'
import { listFile, writeDurably } from './backup-folder.ts'
import type { ListedFile, StoredBackup } from './backup-folder.ts'

export const SEALS = 'seals'

/** By what each is called, where it stands here; in the order in which they are copied. */
export function sealPlaces({ home, settings }: Pick<Context, 'home' | 'settings'>) {
  const own = sealFiles(home)
  const isOwn = settings.BATON_DATABASE_ADMIN_URL === undefined
  const place = (given: string | undefined, ofInstance: string): string | undefined =>
    given ?? (isOwn ? ofInstance : undefined)
  return {
    'sealer state': place(settings.BATON_SEALER_STATE_FILE, own.state),
    'anchor file': place(settings.BATON_SEAL_ANCHOR_FILE, own.anchor),
    'witness state': place(settings.BATON_WITNESS_STATE_FILE, own.witnessState),
    'policy of witnesses': place(settings.BATON_SEAL_POLICY_FILE, own.policy),
  } as const
}

export type SealFile = keyof ReturnType<typeof sealPlaces>

interface CopiedSeals {
  readonly copied: readonly SealFile[]
  readonly missing: readonly SealFile[]
  readonly files: readonly ListedFile[]
}

/** Each file is written in one step by whoever owns it, so a copy of it is whole. */
export async function copySeals(
  context: Pick<Context, 'home' | 'settings'>,
  folder: string,
): Promise<CopiedSeals> {
  await mkdir(join(folder, SEALS), { mode: 0o700 })
  const copied: SealFile[] = []
  const missing: SealFile[] = []
  const files: ListedFile[] = []
  for (const [name, path] of Object.entries(sealPlaces(context)) as [
    SealFile,
    string | undefined,
  ][]) {
    const bytes = path === undefined ? undefined : await readIfThere(path)
    if (path === undefined || bytes === undefined) {
      missing.push(name)
      continue
    }
    const target = join(SEALS, fileNameOf(name))
    await writeDurably(join(folder, target), bytes)
    files.push(await listFile(folder, target))
    copied.push(name)
  }
  return { copied, missing, files }
}

/** What each is called in a backup, whatever its name is here. */
export const fileNameOf = (name: SealFile): string => SEAL_FILE_NAMES[name]

const SEAL_FILE_NAMES: Readonly<Record<SealFile, string>> = {
  'sealer state': 'sealer.json',
  'anchor file': 'anchor.jsonl',
  'witness state': 'witness.json',
  'policy of witnesses': 'policy',
}

/** Where it stands in a backup; undefined where it is not in it. */
export const sealCopy = ({ folder, manifest }: StoredBackup, name: SealFile): string | undefined =>
  manifest.seals.includes(name) ? join(folder, SEALS, fileNameOf(name)) : undefined

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

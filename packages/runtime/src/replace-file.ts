// Replaces a file as one step: after a crash or a power cut the old text stands there or the new one, whole.
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * When it resolves the new text survives a power cut; until then the old one does. Only this user may
 * read the file. `beforeRename` runs while the new text stands beside the old one.
 */
export async function replaceFile(
  path: string,
  text: string,
  beforeRename: () => void = () => undefined,
): Promise<void> {
  const draft = `${path}.draft`
  await writeThrough(draft, text, { flags: 'w', mode: 0o600 })
  beforeRename()
  await rename(draft, path)
  await syncFolder(dirname(path))
}

/** When it resolves the bytes of the file are on the disk; its name is once its folder is. */
export async function writeThrough(
  path: string,
  text: string,
  { flags, mode }: { readonly flags: 'w' | 'wx'; readonly mode?: number },
): Promise<void> {
  const file = await open(path, flags, mode)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Brings a rename within the folder to the disk. Windows can open no folder, and writes renames down by itself. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

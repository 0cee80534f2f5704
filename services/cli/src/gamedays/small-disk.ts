// A disk of its own for one folder of a game day, small enough to be filled: a tmpfs, which only root may mount.
import { execFile } from 'node:child_process'
import { cp, mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const SIZE = '16m'
const FILLER = '.filler'

export const mayMount = (): boolean => process.getuid?.() === 0

/** Puts the folder with what it holds on the disk. Answers what takes the disk away; the folder is as it was then. */
export async function openSmallDisk(folder: string): Promise<() => Promise<void>> {
  const kept = `${folder}-kept`
  await mkdir(folder, { recursive: true })
  await cp(folder, kept, { recursive: true })
  await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=700`, 'baton-gameday', folder])
  try {
    await cp(kept, folder, { recursive: true })
  } catch (error) {
    await unmount(folder)
    throw error
  }
  return () => unmount(folder)
}

/** Until this share of the disk is taken. */
export async function fillSmallDisk(folder: string, share: number): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(folder)
  const bytes = Math.floor((bavail - blocks * (1 - share)) * bsize)
  await writeFile(join(folder, FILLER), Buffer.alloc(Math.max(0, bytes)))
}

export const emptySmallDisk = (folder: string): Promise<void> => rm(join(folder, FILLER))

/** Also where somebody still stands in it. */
async function unmount(folder: string): Promise<void> {
  await run('umount', ['--lazy', folder])
}

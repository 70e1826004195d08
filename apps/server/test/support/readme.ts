import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The shell commands that the README shows, block by block. */
export async function readmeBlocks(root: string): Promise<string[][]> {
  const text = await readFile(join(root, 'README.md'), 'utf8')
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) =>
    block.split('\n').filter((line) => line !== ''),
  )
}

/** The `curl` lines of the README, sent to another address than the one it shows. */
export async function readmeRequests(root: string, url: string): Promise<string[]> {
  const lines = (await readmeBlocks(root)).flat().filter((line) => line.startsWith('curl '))
  return lines.map((line) => line.replaceAll('http://localhost:8080', url))
}

/** `node scripts/image/write-server-tree.ts <built workspace> <root>`, for the Dockerfile. */
import { writeServerTree } from './server-tree.ts'

const [workspace, root] = process.argv.slice(2)
if (workspace === undefined || root === undefined) {
  console.error('usage: node scripts/image/write-server-tree.ts <built workspace> <root>')
  process.exit(2)
}
await writeServerTree(workspace, root)

export type { ExportedPack, PackBytes, PackContent } from './transfer.js'

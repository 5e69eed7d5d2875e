// Bundles the scripts of this folder with the packages they import: node build.mjs [folder]
//
// Files are named after the hash of their content, so browsers keep them for good; manifest.json has the name of each
// script and LICENSES.txt the licences of what is in them. Files are compressed with gzip, except small ones.
import { build } from "esbuild";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const HERE = dirname(fileURLToPath(import.meta.url));
const TARGET = resolve(process.argv[2] ?? join(HERE, "../src/holdfast/web/static/bundles"));
const ENTRIES = ["editor", "formulas", "diagram_frame"];
// Smaller files fit into one packet, and are sent as they are.
const WORTH_PACKING = 1400;
// Licences under which code may be part of a distribution under Apache-2.0; a new one is read before it is added.
const LICENSES = new Set(["Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0 OR Apache-2.0"]);
// A package whose metadata names no licence, and the one in its text.
const BY_NAME = { khroma: "MIT" };
const LICENSE_FILE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

// ELK is 1.5 MB under another licence, so diagrams that ask for its layout get dagre's, as in Mermaid's small build.
const withoutElk = {
  name: "without-elk",
  setup: (bundler) => bundler.onResolve({ filter: /^\.\/elk-\w+\.mjs$/ }, ({ resolveDir }) => {
    const dagre = readdirSync(resolveDir).filter((name) => /^dagre-\w+\.mjs$/.test(name));
    if (dagre.length !== 1) throw new Error(`${resolveDir} has ${dagre.length} files of the layout dagre`);
    return { path: join(resolveDir, dagre[0]) };
  }),
};

// The rules of a package as a text; its fonts are not bundled.
const styleAsText = {
  name: "style-as-text",
  setup: (bundler) => bundler.onLoad({ filter: /\.css$/ }, ({ path }) => ({
    contents: readFileSync(path, "utf8").replace(/@font-face\s*\{[^}]*\}/g, ""), loader: "text",
  })),
};

const made = await build({
  absWorkingDir: HERE,
  entryPoints: Object.fromEntries(ENTRIES.map((name) => [name, `./${name}.js`])),
  outdir: TARGET,
  entryNames: "[name]-[hash]",
  chunkNames: "chunk-[hash]",
  format: "esm",
  target: "es2022",
  bundle: true,
  splitting: true,
  minify: true,
  legalComments: "none",
  metafile: true,
  write: false,
  logLevel: "warning",
  plugins: [withoutElk, styleAsText],
});

// The folder of the package a file belongs to, also of one that is nested in another's.
const packageFolder = (path) => path.match(/^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0];
const folders = new Set();
for (const output of Object.values(made.metafile.outputs)) {
  for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
    const folder = bytesInOutput && packageFolder(path);
    if (folder) folders.add(folder);
  }
}
const packages = [...folders].map((folder) => {
  const about = JSON.parse(readFileSync(join(HERE, folder, "package.json"), "utf8"));
  const texts = readdirSync(join(HERE, folder)).filter((name) => LICENSE_FILE.test(name)).sort();
  return {
    name: about.name,
    version: about.version,
    license: (about.license ?? BY_NAME[about.name] ?? "none").replace(/^\((.*)\)$/, "$1"),
    text: texts.map((name) => readFileSync(join(HERE, folder, name), "utf8").trim()).join("\n\n")
      || `Copyright ${about.author?.name ?? about.author ?? "the authors"}; the package has no text of its licence.`,
  };
}).sort((one, other) => (one.name + one.version < other.name + other.version ? -1 : 1));

for (const { name, license } of packages) {
  if (!LICENSES.has(license)) throw new Error(`${name}: the licence ${license} was not looked at`);
}

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET, { recursive: true });
for (const { path, contents } of made.outputFiles) {
  if (contents.length > WORTH_PACKING) writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }));
  else writeFileSync(path, contents);
}
const scripts = {};
for (const [path, { entryPoint }] of Object.entries(made.metafile.outputs)) {
  const name = entryPoint?.match(/^(\w+)\.js$/)?.[1];
  if (name) scripts[name] = path.split("/").at(-1);
}
for (const name of ENTRIES) {
  if (!scripts[name] || !existsSync(join(TARGET, `${scripts[name]}.gz`))) throw new Error(`${name} was not built`);
}
const notice = "The scripts in this folder contain code of these packages.\n";
writeFileSync(join(TARGET, "LICENSES.txt"), [
  notice,
  ...packages.map(({ name, version, license, text }) => `${"=".repeat(79)}\n${name} ${version} (${license})\n\n${text}\n`),
].join("\n"));
// Last: whoever finds it finds everything else.
const listed = packages.map(({ name, version, license }) => ({ name, version, license }));
writeFileSync(join(TARGET, "manifest.json"), `${JSON.stringify({ scripts, packages: listed }, null, 1)}\n`);

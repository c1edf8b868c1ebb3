/** The icon: a window filled to its mark. */
import { LabIcon } from '@jupyterlab/ui-components';

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16">
  <g class="jp-icon3 jp-icon-selectable" fill="#616161">
    <path d="M4 1.5h8A1.5 1.5 0 0 1 13.5 3v10a1.5 1.5 0 0 1-1.5 1.5H4A1.5 1.5 0 0 1 2.5 13V3A1.5 1.5 0 0 1 4 1.5zm0 1.2a.3.3 0 0 0-.3.3v10c0 .17.13.3.3.3h8a.3.3 0 0 0 .3-.3V3a.3.3 0 0 0-.3-.3z"/>
    <path d="M5 10.4h6v1.6H5zM5 7.9h6v1.6H5zM5 5.4h3.4V7H5z"/>
  </g>
</svg>`;

export const icon = new LabIcon({ name: 'ethang-nb:context', svgstr: SVG });
